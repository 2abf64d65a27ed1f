# DEFECT: session/list with cwd has sessions of subfolders too (prefix match; filter is the folder)
import os, sys; sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from base import *
import base
class Bad(Agent):
    def list(s, p):
        c = p.get("cwd"); r = super().list({**p, "cwd": None})
        if c: r["sessions"] = [x for x in r["sessions"] if x["cwd"].startswith(c)]
        return r

Bad().run()
