package rawpeer

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
)

// Dialogues runs each dialogue of a file as a test, in a synctest bubble. The file is in the txtar
// format: a comment, and then a named section for each dialogue. In a dialogue, a line after > is
// sent, and a line after < must be received. Several < in a row may be received in any order. A line
// after ! names a call that the end under test makes, by [Peer.Do], and a line after = is the outcome
// of the oldest call. A line with a dot waits until the end under test is idle. {{3 x}} stands for xxx.
// Other lines are comments. Connect returns the peer of a new connection, and a function that ends it.
func Dialogues(t *testing.T, file string, connect func(t *testing.T) (p *Peer, end func())) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	names, dialogues := sections(string(text))
	if len(names) == 0 {
		t.Fatalf("%s has no dialogues", file)
	}
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, end := connect(t)
				p.Play(dialogues[i])
				end()
			})
		})
	}
}

// Play sends and expects the lines of a dialogue; see [Dialogues].
func (p *Peer) Play(dialogue string) {
	p.t.Helper()
	var want []string
	var outcomes []chan string
	for line := range strings.Lines(dialogue + "\n#") {
		line = repeated.ReplaceAllStringFunc(strings.TrimSpace(line), repeat)
		kind, text := "#", ""
		if line != "" {
			kind, text = line[:1], strings.TrimSpace(line[1:])
		}
		if kind != "<" && want != nil {
			p.ExpectJSON(want...)
			want = nil
		}
		switch kind {
		case "<":
			want = append(want, text)
		case ">":
			p.Send("%s", text)
		case ".":
			synctest.Wait()
		case "!":
			outcome := make(chan string, 1)
			outcomes = append(outcomes, outcome)
			go func() { outcome <- p.Do(text) }() // ends with the call
		case "=":
			if len(outcomes) == 0 {
				p.fail("no call has the outcome %s", text)
				return
			}
			if got := NameErrorIDs(<-outcomes[0]); got != quoted(text) {
				p.fail("the call ended with %.1000s; want %.1000s", got, quoted(text))
			}
			outcomes = outcomes[1:]
		}
	}
	if len(outcomes) > 0 {
		p.fail("%d calls have no outcome", len(outcomes))
	}
}

var repeated = regexp.MustCompile(`\{\{(\d+) (.+?)\}\}`)

func repeat(s string) string {
	m := repeated.FindStringSubmatch(s)
	n, _ := strconv.Atoi(m[1])
	return strings.Repeat(m[2], n)
}

var section = regexp.MustCompile(`(?m)^-- (.+) --\n`)

// sections returns the sections of a txtar file. The tests need no more of the format, so the
// module does not require a parser for it.
func sections(text string) (names, contents []string) {
	heads := section.FindAllStringSubmatchIndex(text, -1)
	for i, head := range heads {
		end := len(text)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		names = append(names, text[head[2]:head[3]])
		contents = append(contents, text[head[1]:end])
	}
	return names, contents
}
