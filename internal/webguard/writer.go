package webguard

import "net/http"

// CanFlush reports whether a response can be sent in parts. Middleware often wraps the
// ResponseWriter of net/http without a method Unwrap, which hides what that one can do.
func CanFlush(w http.ResponseWriter) bool {
	return supports(w, func(w http.ResponseWriter) bool {
		_, ok := w.(http.Flusher)
		if !ok {
			_, ok = w.(interface{ FlushError() error })
		}
		return ok
	})
}

// CanHijack reports whether the network connection of a request can be taken over.
func CanHijack(w http.ResponseWriter) bool {
	return supports(w, func(w http.ResponseWriter) bool {
		_, ok := w.(http.Hijacker)
		return ok
	})
}

func supports(w http.ResponseWriter, has func(http.ResponseWriter) bool) bool {
	for {
		if has(w) {
			return true
		}
		wrapper, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return false
		}
		w = wrapper.Unwrap()
	}
}
