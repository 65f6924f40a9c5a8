"""Print the matrix: ``python -m tests.clients``."""

from tests.clients.matrix import Matrix

if __name__ == "__main__":
    matrix = Matrix()
    print(matrix.table())
    matrix.close()
