# DEFECT: a byte order mark is dropped when read (utf-8-sig)
import os, sys; sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cbase import *
class Bad(Client):
    def decode(s, b): return b.decode("utf-8-sig")

run(Bad)
