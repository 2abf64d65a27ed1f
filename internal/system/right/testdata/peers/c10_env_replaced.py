# DEFECT: the env of terminal/create replaces the whole environment (PATH, HOME are gone)
import os, sys; sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cbase import *
class Bad(Client):
    def env(s, p): return {v["name"]: v["value"] for v in p.get("env") or []} or dict(os.environ)

run(Bad)
