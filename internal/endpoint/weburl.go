package endpoint

import (
	"errors"
	"net/url"
	"strings"
)

// CheckWebURL tells whether a URL may be shown to a person as a page to open. A client
// will hand it to the system, which would also run a program or open a file: so
// neither end lets anything else pass.
func CheckWebURL(raw string) error {
	u, err := url.Parse(raw)
	if err != nil {
		return errors.New("must be a URL")
	}
	if s := strings.ToLower(u.Scheme); s != "http" && s != "https" || u.Host == "" {
		return errors.New("must be an http or https URL with a host")
	}
	return nil
}
