package webguard

import (
	"net/http"
	"time"
)

// refusalTimeout is how long the rest of a request may take whose body is not wanted.
const refusalTimeout = 10 * time.Second

// LimitBody limits the time in which the body of a request arrives. net/http reads the rest of a
// body that its handler did not read, before it sends the response, and has no limit of its
// own for it: a client that promises a body and sends none would hold its network
// connection forever, also if it was refused. A handler that wants the body sets a deadline of
// its own.
func LimitBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 { // else net/http already reads on, and the deadline would end the request
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(refusalTimeout)) // not every server has deadlines
	}
}
