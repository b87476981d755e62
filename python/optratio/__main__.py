"""python -m optratio: the program, with its arguments."""
from .program import main

main()
