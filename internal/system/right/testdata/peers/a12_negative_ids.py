# DEFECT: a request with a negative id is taken for a notification (if id >= 0)
import os, sys; sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from base import *
import base
class Bad(Agent):
    def request(s, m):
        if isinstance(m["id"], (int, float)) and m["id"] < 0: return s.notification(m["method"], m.get("params"))
        super().request(m)

Bad().run()
