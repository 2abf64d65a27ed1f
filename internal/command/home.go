package command

import (
	"os"
	"os/user"
)

// Home returns the home folder of the user, or "" if it is not known. Some editors start programs with
// PATH and little else; then it is that of the account.
func Home() string {
	if home, err := os.UserHomeDir(); err == nil && home != "" {
		return home
	}
	if u, err := user.Current(); err == nil {
		return u.HomeDir
	}
	return ""
}
