"""A C++ application of the shape of Maya and Houdini, built for these tests."""
