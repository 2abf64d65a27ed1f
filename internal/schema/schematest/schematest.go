// Package schematest fails tests in which a peer sends what the schema of its version does not know.
package schematest

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/acpkit/go-sdk/internal/schema"
	"github.com/acpkit/go-sdk/stream"
)

// known are the methods that a client of a version may get, and the kinds of session updates.
type known struct{ methods, updates map[string]bool }

var versions = map[int]func() known{
	1: sync.OnceValue(func() known { return load("v1.json") }),
	2: sync.OnceValue(func() known { return load("v2.json") }),
}

func load(name string) known {
	type variant struct {
		Properties struct{ SessionUpdate struct{ Const string } }
	}
	var file struct {
		Defs map[string]struct {
			Method string `json:"x-method"`
			Side   string `json:"x-side"`
			OneOf  []variant
			AnyOf  []variant
		} `json:"$defs"`
	}
	data, err := schema.Files.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(data, &file)
	}
	if err != nil {
		panic(err) // the file is a part of the program
	}
	k := known{methods: make(map[string]bool), updates: make(map[string]bool)}
	for _, def := range file.Defs {
		if def.Method != "" && def.Side != "agent" {
			k.methods[def.Method] = true
		}
	}
	update := file.Defs["SessionUpdate"]
	for _, v := range append(update.OneOf, update.AnyOf...) {
		k.updates[v.Properties.SessionUpdate.Const] = true
	}
	delete(k.updates, "") // the variant of version 2 for all that is unknown
	return k
}

// Client returns the stream of a client of a version. The test fails if the client reads a method or a kind of session
// update that the stable schema of the version does not have.
func Client(t testing.TB, version int, s stream.Stream) stream.Stream {
	return &judged{s, t, versions[version](), version}
}

type judged struct {
	stream.Stream
	t       testing.TB
	known   known
	version int
}

func (s *judged) Read() ([]byte, error) {
	msg, err := s.Stream.Read()
	var m struct {
		Method string
		Params struct {
			Update struct{ SessionUpdate string }
		}
	}
	switch {
	case err != nil || json.Unmarshal(msg, &m) != nil || m.Method == "":
	case !s.known.methods[m.Method]:
		s.fail("the method " + m.Method)
	case m.Method == "session/update" && !s.known.updates[m.Params.Update.SessionUpdate]:
		s.fail("the update " + m.Params.Update.SessionUpdate)
	}
	return msg, err
}

func (s *judged) fail(what string) {
	s.t.Errorf("a client got %s, which version %d does not have", what, s.version)
}
