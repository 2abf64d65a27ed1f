package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// texts are the project's own doc sentences, by their keys such as
// "type PromptRequest" or "field PromptRequest.prompt".
type texts struct {
	text  map[string]string
	topic map[string]string // of a key: the file that it stands in
	used  map[string]bool
	lost  []string // keys without a text

	// aliases are definitions whose texts of an earlier version hold alone.
	aliases map[string]bool

	// inherited holds the texts of an earlier version, for keys without a text of their
	// own; nil without one. A text of it need not be used.
	inherited *texts
}

// readTexts reads the files of a folder. A file is a list of blocks: a line
// "== key", then paragraphs. Lines with # before the first block are comments.
func readTexts(dir string) (*texts, error) {
	t := &texts{text: map[string]string{}, topic: map[string]string{}, used: map[string]bool{}}
	paths, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		topic := strings.TrimSuffix(filepath.Base(path), ".txt")
		for _, block := range strings.Split("\n"+string(data), "\n== ")[1:] {
			key, body, _ := strings.Cut(block, "\n")
			key, body = strings.TrimSpace(key), strings.TrimSpace(body)
			if _, twice := t.text[key]; twice {
				return nil, fmt.Errorf("%s: second text for %q", path, key)
			}
			if body == "" {
				return nil, fmt.Errorf("%s: no text for %q", path, key)
			}
			t.text[key], t.topic[key] = body, topic
		}
	}
	return t, nil
}

// need is find for a text that must be there: it records the first key if none has one.
func (t *texts) need(keys ...string) string {
	text := t.find(keys...)
	if text == "" {
		t.lost = append(t.lost, keys[0])
	}
	return text
}

// find returns the text of the first key that has one, or "". The text of a field in an earlier
// version goes before a common text of this one, which may be about another kind of field.
func (t *texts) find(keys ...string) string {
	own := t
	if _, name, _ := strings.Cut(keys[0], " "); t.aliases[strings.SplitN(name, ".", 2)[0]] {
		own = t.inherited
	}
	for _, key := range keys {
		for v := own; v != nil; v = v.inherited {
			if text := v.text[key]; text != "" {
				v.used[key] = true
				return text
			}
		}
	}
	return ""
}

// disown forgets which texts were used, and leaves the texts of aliases to the earlier version.
func (t *texts) disown(types []*goType) {
	t.used, t.aliases = map[string]bool{}, map[string]bool{}
	for _, x := range types {
		if x.Alias && goName(x.Def) == x.Name {
			t.aliases[x.Def] = true
		}
	}
}

// topicOf returns the file that a key's text stands in.
func (t *texts) topicOf(key string) string {
	if topic := t.topic[key]; topic != "" || t.inherited == nil {
		return topic
	}
	return t.inherited.topicOf(key)
}

func (t *texts) unused() []string {
	var list []string
	for key := range t.text {
		if !t.used[key] {
			list = append(list, key)
		}
	}
	slices.Sort(list)
	return list
}

// comment formats text as a Go comment of lines up to 96 columns.
func comment(indent, text string) string {
	var out strings.Builder
	for i, paragraph := range strings.Split(text, "\n\n") {
		if i > 0 {
			out.WriteString(indent + "//\n")
		}
		line := indent + "//"
		for word := range strings.FieldsSeq(paragraph) {
			if len(line)+1+len(word) > 96 && line != indent+"//" {
				out.WriteString(line + "\n")
				line = indent + "//"
			}
			line += " " + word
		}
		out.WriteString(line + "\n")
	}
	return out.String()
}
