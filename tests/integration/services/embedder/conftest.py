from tests.support.nats import bus, nats_server, nats_url

__all__ = ["bus", "nats_server", "nats_url"]
