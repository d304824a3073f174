import dramatiq
from dramatiq.brokers.redis import RedisBroker

import rival

dramatiq.set_broker(RedisBroker(url=rival.URL))


@dramatiq.actor
def noop(padding):
    rival.mark()


if __name__ == '__main__' and rival.wants('push'):
    def push():
        for _ in range(rival.JOBS):
            noop.send(rival.PADDING)
    # The actor's module must have its real name in the messages' eyes; it does: actors are known by name alone.
    rival.report(push)
