package order_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/rpc/order"
)

// named is a notification, or a response that was read.
type named string

func (n named) Title() string { return string(n) }
func (n named) Lost()         {}

type notified struct{ order.Scope }

// asked is a request of the peer. Its handler waits in the test.
type asked struct {
	order.Scope
	order.Request
	started chan order.Scoped
	ended   chan order.Ended
}

func (a *asked) Serve(under order.Scoped) { a.started <- under }
func (a *asked) End(by order.Ended)       { a.ended <- by }

func ask(id, method string) *asked {
	a := &asked{started: make(chan order.Scoped, 1), ended: make(chan order.Ended, 2)}
	a.ID, a.Key, a.Method = id, id, method
	return a
}

// table: requests of "prompt" belong to the group s.
type table struct{}

func (table) Request(h order.Handler) bool {
	if a := h.(*asked); a.Method == "prompt" {
		a.Waits, a.Member, a.Group = true, true, "s"
	}
	return true
}

func (table) Notification(method, _ []byte) (order.Subject, *order.Ends) {
	switch string(method) {
	case "dull":
		return nil, nil
	case "cancel":
		return named("cancel"), &order.Ends{Group: "s"}
	}
	return named(method), nil
}

func newOrder(change func(*order.Config)) *order.Order {
	cfg := order.Config{
		Initial: table{}, Backlog: 1 << 20, MaxBacklog: 1 << 20, MaxWaiting: 1 << 20, MaxOpen: 1 << 20, MaxHandlers: 1,
		Exceeded: func() bool { return false }, Work: func() {}, SlowAfter: 1 << 40,
	}
	if change != nil {
		change(&cfg)
	}
	o := new(order.Order)
	o.Init(cfg)
	return o
}

// next is what the worker does next, while the test is the worker.
func next(t *testing.T, o *order.Order) (what string, s *notified) {
	s = new(notified)
	it, ok := o.Next(s, false)
	if !ok {
		return "", s
	}
	require.NotNil(t, it.What)
	return it.What.Title(), s
}

func TestNotificationsHoldBackWhatIsBehindThem(t *testing.T) {
	o := newOrder(nil)
	r := ask("1", "read")
	o.Notify([]byte("update"), nil, 1)
	assert.Equal(t, order.Accepted, o.Accept(r))
	assert.False(t, o.Arrive(order.Item{Kind: order.Delivery, What: named("response")}))
	what, _ := next(t, o)
	assert.Equal(t, "update", what)
	assert.Empty(t, r.started, "the handler of the update runs")
	what, _ = next(t, o)
	assert.Equal(t, "response", what)
	assert.Nil(t, <-r.started)
	what, _ = next(t, o)
	assert.Empty(t, what)
	assert.True(t, o.Arrive(order.Item{Kind: order.Delivery, What: named("response")}), "nothing is before it")
	assert.Equal(t, []string{"read"}, o.Running())
	handled := o.Handled(false)
	r.Advance(order.Returned)
	r.Advance(order.Responded)
	r.Advance(order.Queued)
	assert.Empty(t, handled)
	r.Advance(order.Over)
	<-handled
}

func TestAHandlerThatWaitsLetsRequestsStart(t *testing.T) {
	o := newOrder(nil)
	first, second := ask("1", "read"), ask("2", "read")
	o.Notify([]byte("update"), nil, 1)
	o.Accept(first)
	_, s := next(t, o)
	o.Enter(s)
	assert.Equal(t, order.Scoped(s), <-first.started)
	o.Accept(second)
	assert.Empty(t, second.started, "there is one slot")
	o.Enter(first)
	assert.Equal(t, order.Scoped(s), <-second.started, "a handler that waits needs none")
}

func TestARequestThatIsCancelledBeforeItStarts(t *testing.T) {
	o := newOrder(nil)
	r := ask("1", "prompt")
	o.Notify([]byte("update"), nil, 1)
	o.Accept(r)
	assert.Equal(t, order.InUse, o.Accept(ask("1", "prompt")))
	unstarted, refused := o.Cancel("1")
	assert.Equal(t, order.Handler(r), unstarted)
	assert.Empty(t, refused)
	assert.Equal(t, order.ByPeer, <-r.ended)
	for what := "update"; what != ""; {
		what, _ = next(t, o)
	}
	assert.Empty(t, r.started)
	<-o.Handled(false)
}

func TestANotificationEndsTheGroupThatWasReadBefore(t *testing.T) {
	o := newOrder(nil)
	before, after := ask("1", "prompt"), ask("2", "prompt")
	o.Accept(before)
	o.Notify([]byte("cancel"), nil, 1)
	assert.Equal(t, order.ByGroup, <-before.ended)
	o.Accept(after)
	assert.Empty(t, after.ended)
	assert.Equal(t, order.ByGroup, before.Advance(order.Returned))
}

func TestWhatIsReadDuringAHandshakeWaits(t *testing.T) {
	o := newOrder(func(c *order.Config) { c.Handshake = "initialize" })
	assert.Equal(t, order.NotOpen, o.Accept(ask("1", "read")))
	opening, held := ask("2", "initialize"), ask("3", "read")
	assert.Equal(t, order.Accepted, o.Accept(opening))
	assert.True(t, opening.Opens())
	assert.Nil(t, o.Table())
	assert.Equal(t, order.Accepted, o.Accept(held))
	o.Notify([]byte("dull"), nil, 1)
	o.Notify([]byte("update"), nil, 1)
	assert.Empty(t, held.started)
	opening.Advance(order.Over) // the slot is free
	assert.Empty(t, o.Open(table{}))
	assert.Nil(t, <-held.started)
	what, _ := next(t, o)
	assert.Equal(t, "update", what)
	what, _ = next(t, o)
	assert.Empty(t, what)
}

func TestAHandshakeThatFailsRefusesWhatWasReadBehindIt(t *testing.T) {
	o := newOrder(func(c *order.Config) { c.Handshake = "initialize" })
	held := ask("2", "read")
	o.Accept(ask("1", "initialize"))
	o.Accept(held)
	refused := o.Open(nil)
	require.Len(t, refused, 1)
	assert.Equal(t, order.Refused{Handler: held, Why: order.NotOpen}, refused[0])
}
