package jetstream_test

import (
	"testing"

	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/journal/jetstream"
	"github.com/acpkit/go-sdk/agent/journal/journaltest"
	"github.com/acpkit/go-sdk/internal/natsserver"
)

// maker makes stores with streams of their own. A store that is opened again is one of another process.
func maker(url string) journaltest.Maker {
	of := map[journal.Store]string{}
	return journaltest.Maker{
		New: func(t testing.TB) journal.Store {
			n := name()
			s := open(t, url, n, "first")
			of[s] = n
			return s
		},
		Reopen: func(t testing.TB, s journal.Store) journal.Store {
			other := open(t, url, of[s], "node"+name())
			of[other] = of[s]
			return other
		},
	}
}

func TestOneServer(t *testing.T) {
	c := natsserver.Start(t, natsserver.Options{})
	journaltest.Test(t, maker(c.URL()))
}

func TestThreeServers(t *testing.T) {
	c := natsserver.Start(t, natsserver.Options{Servers: 3})
	journaltest.Test(t, maker(c.URL()))
}

var _ journal.Store = (*jetstream.Store)(nil)
