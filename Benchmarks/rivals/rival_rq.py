from redis import Redis
from rq import Queue, SimpleWorker

import rival


def noop(padding):
    rival.mark()


def push():
    queue = Queue(connection=Redis.from_url(rival.URL))
    left = rival.JOBS
    while left > 0:
        count = min(left, 500)
        queue.enqueue_many([Queue.prepare_data('rival_rq.noop', (rival.PADDING,), result_ttl=0) for _ in range(count)])
        left -= count


if __name__ == '__main__':
    if rival.wants('push'):
        rival.report(push)
    else:
        # Without a fork a job, as the documentation says for short jobs.
        connection = Redis.from_url(rival.URL)
        SimpleWorker([Queue(connection=connection)], connection=connection).work(logging_level='ERROR')
