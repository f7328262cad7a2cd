"""`backscroll nats-users`"""

from shared.bus.permissions import nats_users


def print_nats_users() -> None:
    """Print the users of NATS and what each may do, for `authorization` in its configuration.

    Each password is a variable of the server's environment, e.g. NATS_GATEWAY_PASSWORD.
    """
    print(nats_users(), end="")
