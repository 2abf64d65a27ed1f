package stream_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/stream"
)

// readTolerant reads all lines of a tolerant stream, of which a connection checks the lines or not.
func readTolerant(t *testing.T, input string, unchecked bool) (msgs, noise []string) {
	t.Helper()
	s := stream.Lines(strings.NewReader(input), io.Discard, &stream.LinesOptions{
		Tolerant: true, OnNoise: func(text string) { noise = append(noise, text) },
	})
	report := func([]byte) bool { return true }
	if unchecked {
		report = envelope.LeaveChecks(stream.FeaturesOf(s))
	}
	for {
		msg, err := s.Read()
		if err == io.EOF {
			return msgs, noise
		}
		require.NoError(t, err)
		if unchecked && stream.ParseMessage(msg).Kind == stream.KindInvalid {
			report(msg)
			continue
		}
		msgs = append(msgs, string(msg))
	}
}

const (
	one = `{"jsonrpc":"2.0","id":1,"result":{"a":"\r}{"}}`
	two = `{"jsonrpc":"2.0","method":"m","params":{"t":"é ` + "\u2028" + `"}}`
)

func TestMessagesBesideOtherText(t *testing.T) {
	for _, test := range []struct {
		line        string
		msgs, noise []string
	}{
		{"\x1b]0;agent: ready\a" + one, []string{one}, nil},
		{"\x1b]0;agent: ready\x1b\\" + one + "\x1b(B\x1b7", []string{one}, nil},
		{"\x1b[32m\x1b[0m " + one, []string{one}, nil},
		{one + "\x1b[0m", []string{one}, nil},
		{one + " " + two, []string{one, two}, nil},
		{one + two, []string{one, two}, nil},
		{"\xff\xfe" + one, []string{one}, nil},
		{"\ufeff\a" + one, []string{one}, nil},
		{"50%\r100%\r" + one, []string{one}, []string{"50%", "100%"}},
		{one + "50%\r" + two, []string{one, two}, []string{"50%"}},
		{one + "\r50%", []string{one}, []string{"50%"}},
		{"{1/3}\r" + one, []string{one}, []string{"{1/3}"}},
		{"{ \r \"jsonrpc\" : \"2.0\", \"method\":\"m\"}" + one, []string{"{ \r \"jsonrpc\" : \"2.0\", \"method\":\"m\"}", one}, nil},

		{"\x1b[32mready\x1b[0m " + one, nil, []string{"ready\x1b[0m " + one}},
		{"DEBUG sent " + one, nil, []string{"DEBUG sent " + one}},
		{one + " was sent", nil, []string{one + " was sent"}},
		{one + "\r" + two + " was sent", []string{one}, []string{two + " was sent"}},
		{"DEBUG sent " + one + "\r" + two, []string{two}, []string{"DEBUG sent " + one}},
		{`[log] calling {"jsonrpc":"2.0","method":"x"`, nil, []string{`[log] calling {"jsonrpc":"2.0","method":"x"`}},
		{"\x1b]0;" + one, nil, []string{"\x1b]0;" + one}},
		{"[" + one + "]", nil, []string{"[" + one + "]"}},
		{one + `{"level":30}`, nil, []string{one + `{"level":30}`}},
	} {
		for _, unchecked := range []bool{false, true} {
			msgs, noise := readTolerant(t, test.line+"\n"+two+"\n", unchecked)
			assert.Equal(t, append(test.msgs, two), msgs, "%q", test.line)
			assert.Equal(t, test.noise, noise, "%q", test.line)
		}
	}
}

// Whatever stands beside messages, none is lost, none is read twice, and their order stays.
func TestMessagesBesideRandomText(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	harmless := []string{"", " ", "\t", "\x1b[1;31m", "\x1b]0;{title}\a", "\x1b(B", "\ufeff", "\xff\xfe", "\b", "\r", "\u00a0", "\x1b]8;;x\x1b\\", "working {3/4}\r"}
	var input strings.Builder
	var want []string
	for range 10000 {
		for range random.IntN(4) {
			for range random.IntN(3) {
				input.WriteString(harmless[random.IntN(len(harmless))])
			}
			msg := fmt.Sprintf(`{"jsonrpc":"2.0","method":"m","params":{"n":%d}}`, len(want))
			input.WriteString(msg)
			want = append(want, msg)
		}
		for range random.IntN(3) {
			input.WriteString(harmless[random.IntN(len(harmless)-1)]) // not what ends like a line
		}
		input.WriteByte('\n')
	}
	for _, unchecked := range []bool{false, true} {
		msgs, _ := readTolerant(t, input.String(), unchecked)
		require.Equal(t, want, msgs)
	}
}

// A line of beginnings costs about as much as one of messages.
func TestCostOfBeginnings(t *testing.T) {
	cost := func(line string) time.Duration {
		began := time.Now()
		readTolerant(t, line, false)
		return time.Since(began)
	}
	const size = 4 << 20
	messages := cost(strings.Repeat(two, size/len(two)))
	for _, part := range []string{`{"jsonrpc":[0,` + "\r", "\x1b]\r", "\x1b[\r", "\x1b]\x1b]", "\x1b"} {
		assert.Less(t, cost(`x"jsonrpc"`+"\r"+strings.Repeat(part, size/len(part))), 20*messages, "%q", part)
	}
}
