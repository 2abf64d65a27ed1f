# CORRECT but unusual
import os, sys; sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cbase import *

class A(Client):
    def start(s):
        super().start(); s.first = s.sid
        s.send({"jsonrpc": "2.0", "method": "_vendor/hello", "params": {"a": 1}})
        time.sleep(1.5)
    def request(s, m): time.sleep(0.3); super().request(m)
    def order(s, m): return True
run(A)
