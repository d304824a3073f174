import asyncio

from arq import create_pool
from arq.connections import RedisSettings
from arq.worker import Worker

import rival

SETTINGS = RedisSettings(host='127.0.0.1', port=rival.PORT)


async def noop(context, padding):
    rival.mark()


async def push():
    pool = await create_pool(SETTINGS)
    left = rival.JOBS
    while left > 0:
        count = min(left, 100)
        await asyncio.gather(*(pool.enqueue_job('noop', rival.PADDING) for _ in range(count)))
        left -= count


if __name__ == '__main__':
    if rival.wants('push'):
        rival.report(lambda: asyncio.run(push()))
    else:
        asyncio.set_event_loop(asyncio.new_event_loop())
        Worker(functions=[noop], redis_settings=SETTINGS, max_jobs=100, keep_result=0, poll_delay=0.01, handle_signals=False,
               queue_read_limit=1000).run()
