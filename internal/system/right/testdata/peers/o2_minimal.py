# CORRECT but unusual
import os, sys; sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from base import *

class A(Agent):
    methods = {k: Agent.methods[k] for k in ("initialize", "session/new", "session/prompt")}
    def initialize(s, p):
        super().initialize(p); return {"protocolVersion": 1}
    def extras(s, st): return {}
    def do_read(s, st): s.say(st, "no")
    do_write = do_run = do_ask = do_tool = do_read
    def line(s, l):   # no batches, silent about what is no message
        try: m = json.loads(l)
        except Exception: return s.fail(None, -32700, "Parse error")
        if isinstance(m, dict): super().line(l)
        else: s.fail(None, -32600, "Invalid request")
A().run()
