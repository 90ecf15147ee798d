"""
Runs compiled programs: loads object code, binds symbols of dynamic shapes, plans calls, owns memory and threads.

Imports nothing of the compiler: a program that was compiled once runs with numpy and llvmlite alone.
"""
