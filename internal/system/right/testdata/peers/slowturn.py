# CORRECT: its turns take 12 s, or 14 s with a part each second if STREAM is set
from base import *
class A(Agent):
    def do_text(s, st):
        if os.environ.get("STREAM"):
            for k in range(14): s.check(st); s.say(st, "part %d " % k); time.sleep(1)
        else: st["cancel"].wait(12); s.check(st); s.say(st, "Hello")
A().run()
