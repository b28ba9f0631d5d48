"""A fuzzer over everything that reads files from outside: `python -m benchmarks.fuzz [--quick] [--inputs N] [READER ...]`.

Every input must end in a SudareError or in a right answer: never in another exception, a signal, more than five seconds or
more than a gigabyte. Inputs are made from a number, so that each can be made again.
"""
