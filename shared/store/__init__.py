from shared.store.open import open_store

__all__ = ["open_store"]
