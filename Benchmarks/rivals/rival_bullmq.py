import asyncio

from bullmq import Queue, Worker

import rival

OPTIONS = {'connection': rival.URL}


async def noop(job, token):
    rival.mark()


async def push():
    queue = Queue('rival', OPTIONS)
    left = rival.JOBS
    while left > 0:
        count = min(left, 500)
        await queue.addBulk([{'name': 'noop', 'data': {'padding': rival.PADDING}, 'opts': {'removeOnComplete': True}} for _ in range(count)])
        left -= count
    await queue.close()


async def work():
    Worker('rival', noop, {**OPTIONS, 'concurrency': 100})
    await asyncio.Event().wait()


if __name__ == '__main__':
    if rival.wants('push'):
        rival.report(lambda: asyncio.run(push()))
    else:
        asyncio.run(work())
