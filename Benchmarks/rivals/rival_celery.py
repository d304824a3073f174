from celery import Celery

import rival

app = Celery('rival_celery', broker=rival.URL)
# From the optimizing guide: many short tasks want a large prefetch, and results that nobody reads cost a write each.
app.conf.update(task_ignore_result=True, worker_prefetch_multiplier=128, worker_send_task_events=False,
                broker_pool_limit=10, worker_hijack_root_logger=False)


@app.task
def noop(padding):
    rival.mark()


def push():
    with app.producer_pool.acquire() as producer:
        for _ in range(rival.JOBS):
            noop.apply_async((rival.PADDING,), producer=producer)


if __name__ == '__main__' and rival.wants('push'):
    from rival_celery import push
    rival.report(push)
