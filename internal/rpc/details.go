package rpc

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/acpkit/go-sdk/rpcerr"
)

// Details returns what err keeps inside if Config.ExposeErrors is set, and "" otherwise: all
// texts of err and of what it wraps, except for the message of the error that is sent.
func (c *Conn) Details(err error) string {
	if !c.cfg.ExposeErrors || err == nil {
		return ""
	}
	d := details{left: 256}
	d.add(err)
	return strings.Join(d.texts, "; ")
}

// details collects texts, outermost first. Left bounds the number of errors: a chain may be
// made of anything.
type details struct {
	texts []string
	sent  bool // the error that is sent has been found
	left  int
}

func (d *details) add(err error) {
	if d.left--; err == nil || d.left < 0 {
		return
	}
	own, ok := err.(interface{ RequestError() *rpcerr.RequestError })
	if _, panicked := err.(*panicError); ok && !panicked && !d.sent && own.RequestError() != nil {
		d.sent = true
	} else {
		d.text(fmt.Sprint(err))
	}
	if v, ok := err.(slog.LogValuer); ok { // what a record keeps for developers
		if g := v.LogValue(); g.Kind() == slog.KindGroup {
			for _, a := range g.Group() {
				if a.Key == "debug" {
					d.text(a.Value.String())
				}
			}
		}
	}
	switch w := err.(type) {
	case interface{ Unwrap() error }:
		d.add(w.Unwrap())
	case interface{ Unwrap() []error }:
		for _, err := range w.Unwrap() {
			d.add(err)
		}
	}
}

// text adds a text that no error further outside contains.
func (d *details) text(s string) {
	for _, t := range d.texts {
		if strings.Contains(t, s) {
			return
		}
	}
	d.texts = append(d.texts, s)
}
