"""The product's own tests with a genuine Windows CPython, which runs in Wine on Linux."""
