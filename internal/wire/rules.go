package wire

// These are the rules in the protocol's prose that a program can check. Generated checks and
// package validate both call these functions, so that they cannot disagree.

// IsFilled reports whether s is not empty. Ids, commands and enumerations are never empty.
func IsFilled(s string) bool { return s != "" }

// IsAbsPath reports whether s is an absolute path on any system. The peer may run on another
// system, so POSIX paths (/x), drives (C:\x and C:/x) and UNC (\\host\share) are all absolute.
func IsAbsPath(s string) bool {
	switch {
	case s == "":
		return false
	case s[0] == '/':
		return true
	case len(s) >= 3 && isLetter(s[0]) && s[1] == ':':
		return s[2] == '\\' || s[2] == '/'
	default:
		return len(s) >= 3 && s[0] == '\\' && s[1] == '\\' && s[2] != '\\'
	}
}

// IsURI reports whether s is a URI with a scheme. A scheme of one letter is a drive, so C:\x is not
// a URI. Characters beyond ASCII are allowed, because people write IRIs. White space and control
// characters are not.
func IsURI(s string) bool {
	colon := -1
	for i := range len(s) {
		c := s[i]
		switch {
		case c <= ' ' || c == 0x7f:
			return false
		case colon >= 0:
		case c == ':':
			colon = i
		case isLetter(c):
		case i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
		default:
			return false
		}
	}
	return colon >= 2 && colon+1 < len(s)
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
