package mask

import "bytes"

// longestLook is how much of a value is looked at to decide whether it is a credential.
const longestLook = 256

// find puts into m.found what is to be hidden in a text: credentials by their shape, and by the words
// before them. It takes linear time.
func (m *Masker) find(text []byte) {
	m.found = m.found[:0]
	run := 0 // where the run of base64 ends that was looked at last
	for i := 0; i < len(text); {
		c := text[i]
		if i >= run && class[c].run {
			for run = i; run < len(text) && class[text[run]].run; run++ {
			}
			if run-i > longBase64 {
				m.found = append(m.found, span{i, run, digest(text[i:run])})
				i = run
				continue
			}
		}
		switch {
		case class[c].word:
			end := i + 1
			for end < len(text) && class[text[end]].word {
				end++
			}
			i = m.word(text, i, end)
		case c == ':' && bytes.HasPrefix(text[i:], []byte("://")):
			i = m.address(text, i+len("://"))
		case c == '\\' && i+1 < len(text) && bytes.IndexByte([]byte("nrt"), text[i+1]) >= 0:
			i += 2 // of JSON in JSON
		case c == '#' && i > 0 && text[i-1] > ' ':
			i = m.fragment(text, i+1)
		default:
			i++
		}
	}
}

// hide notes that text[from:to] is to be hidden, and returns where the search goes on.
func (m *Masker) hide(from, to int) int {
	m.found = append(m.found, span{from, to, Masked})
	return to
}

// word hides the word text[i:end], or what it says to hide behind it. It returns where the search goes
// on.
func (m *Masker) word(text []byte, i, end int) int {
	word := text[i:end]
	switch {
	case isKey(word):
		return m.hide(i, end)
	case word[0] == '-' && bytes.HasPrefix(word, []byte("-----BEGIN")):
		return m.privateKey(text, i, end)
	case isBotToken(text, i, end):
		return m.hide(i, wordEnd(text, end+1))
	case word[0] == '-':
		if to := m.shortFlag(text, i, end); to > end {
			return to
		}
	case isScheme(word):
		return m.scheme(text, end)
	}
	if a, ok := assigned(text, i, end); ok && m.isCredential(text, &a) {
		return m.hide(a.from, a.end(text, len(text)))
	}
	if from := phrase(text, i, end); from > 0 {
		value := text[from:min(len(text), from+longestLook)]
		if looksSecret(bytes.TrimRight(value[:valueEnd(value, 0, bare)], ".")) {
			return m.hide(from, valueEnd(text, from, bare))
		}
	}
	return end
}

// privateKey hides a key in armour from its first line on, which begins at i.
func (m *Masker) privateKey(text []byte, i, end int) int {
	if !bytes.Contains(text[i:min(len(text), i+len("-----BEGIN ENCRYPTED PRIVATE KEY-----"))], []byte("PRIVATE KEY")) {
		return end
	}
	_, rest, ended := bytes.Cut(text[end:], []byte("-----END "))
	if !ended {
		return m.hide(i, len(text))
	}
	_, rest, _ = bytes.Cut(rest, []byte("-----"))
	return m.hide(i, len(text)-len(rest))
}

// scheme hides what follows Bearer or Basic.
func (m *Masker) scheme(text []byte, end int) int {
	from := afterSpaces(text, end)
	to := from
	for to < len(text) && class[text[to]].run {
		to++
	}
	if from > end && to-from >= 16 && bytes.ContainsAny(text[from:min(to, from+longestLook)], "0123456789=") {
		return m.hide(from, to)
	}
	return end
}

// flag says what stands behind a flag of a command line.
type flag uint8

const (
	noFlag    flag = iota
	valueFlag      // a credential
	shortFlag      // a credential if it looks as if a machine had made it, because many programs have the flag
	userFlag       // a user, a colon and a password
)

// flagOf returns what a word is as a flag.
func (m *Masker) flagOf(word []byte) flag {
	switch {
	case len(word) < 2 || word[0] != '-':
		return noFlag
	case string(word) == "-p", string(word) == "-a":
		return shortFlag
	case string(word) == "-u", string(word) == "--user":
		return userFlag
	case m.rule(word) == secret:
		return valueFlag
	}
	return noFlag
}

// credential returns where the credential in the value of a flag begins, or -1 if there is none.
func (f flag) credential(value []byte) int {
	switch f {
	case valueFlag:
		return 0
	case shortFlag:
		if isRandom(value) && !bytes.ContainsAny(value, "/.: ") {
			return 0
		}
	case userFlag:
		colon := bytes.IndexByte(value, ':')
		if colon > 0 && len(value)-colon > 6 && !isPlaceholder(value[colon+1:]) && !bytes.ContainsAny(value, "/ ") {
			return colon + 1
		}
	}
	return -1
}

// shortFlag hides the value of a flag without a name that says what it is. It returns 0 if there is
// none.
func (m *Masker) shortFlag(text []byte, i, end int) int {
	if word := text[i:end]; len(word) > 2+8 && word[1] == 'p' && shortFlag.credential(word[2:]) == 0 { // -pPASSWORD
		return m.hide(i+2, end)
	}
	f := m.flagOf(text[i:end])
	from := afterSpaces(text, end)
	if f < shortFlag || from == end {
		return 0
	}
	value := text[from:min(len(text), from+longestLook)]
	if at := f.credential(value[:valueEnd(value, 0, bare)]); at >= 0 {
		return m.hide(from+at, valueEnd(text, from, bare))
	}
	return 0
}

// secretPaths are addresses whose paths are credentials.
var secretPaths = []string{"hooks.slack.com/services/", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/"}

// address hides the user of an address, whose host begins at i, if there is a password or if the user
// may be one. It returns where the search goes on.
func (m *Masker) address(text []byte, i int) int {
	for _, path := range secretPaths {
		if bytes.HasPrefix(text[i:], []byte(path)) {
			return m.hide(i+len(path), valueEnd(text, i, parameter))
		}
	}
	end := bytes.IndexAny(text[i:], "/?#\"'\\<> \n")
	if end < 0 {
		end = len(text) - i
	}
	user := bytes.LastIndexByte(text[i:i+end], '@')
	if user < 0 || user < 16 && bytes.IndexByte(text[i:i+user], ':') < 0 {
		return i
	}
	return m.hide(i, i+user)
}

// fragment hides the fragment of an address that is a token.
func (m *Masker) fragment(text []byte, i int) int {
	end := wordEnd(text, i)
	if end-i >= 20 && isRandom(text[i:end]) && (end == len(text) || text[end] != '=') {
		return m.hide(i, end)
	}
	return i
}
