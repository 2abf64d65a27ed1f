package gosdk_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// regressions are the faults that were found in this module, each with the tests that
// failed before it was repaired. A test here may be renamed or moved with its row, and
// must not be given up.
var regressions = []struct {
	fault string
	dir   string
	tests string
}{
	// Limits and memory.
	{"responses that waited for room were not counted: a peer that does not read could make any number of goroutines", "internal/rpc", "TestResponsesWithoutRoomAreCounted TestMaxOpenCountsResponsesWithoutRoom TestFloodOfRequests"},
	{"many small _meta took more than ten times the memory of their message", "internal/hardening", "TestManyMetas TestMetaBomb TestUnreadTurnWithMetas"},
	{"many small _meta, each within its own limit", "internal/wire", "TestMapsShareTheBudget"},
	{"a single _meta took more than ten times the memory of its message", "acp", "TestMemoryBound TestMemoryBoundOfRandomShapes"},
	{"a peer that reads was cut off because responses of the connection itself filled their reserve", "internal/rpc", "TestReaderPausesForOwnResponses TestBothEndsPauseForOwnResponses"},
	{"MaxBacklog below Backlog had no effect", "internal/rpc", "TestMaxBacklogBelowBacklog"},
	{"short messages in recycled buffers counted as long ones", "internal/rpc", "TestShortMessagesAfterLongOnes"},
	{"the client kept an entry for each session for ever", "client", "TestPlainSessionsKeepNothing TestManyPlainSessions"},
	{"ending many prompts of one session took quadratic time", "internal/rpc", "TestMembersOfAGroup"},

	// Sending.
	{"sending waited for goroutines that compute", "internal/rpc", "TestSendingWhileEverythingComputes TestNotificationLeavesBeforeItsSenderGoesOn"},
	{"a message that the stream refused left its call pending and its request unanswered", "internal/rpc", "TestRefusedMessages"},
	{"a sender that left with its ctx caused ErrStalled later", "internal/rpc", "TestNoStallAfterASenderHasLeft TestStallWhileSendersComeAndGo"},
	{"many requests after a failed handshake caused ErrStalled", "internal/rpc", "TestManyRequestsBehindAFailedHandshake"},
	{"cancels of own calls took the reserve of the responses, or were lost when it was full", "internal/rpc", "TestCancelsAreNeverLost"},
	{"a result whose MarshalJSON ends its goroutine got no response", "internal/rpc", "TestResultsThatEndTheGoroutine"},

	// Order.
	{"a request overtook the notification whose handler was sending", "internal/rpc", "TestRequestWaitsWhileAHandlerSends TestRequestStartsWhileAHandlerWaitsForRoom"},
	{"an update overtook a forwarded response", "internal/rpc", "TestForwardedResponseKeepsItsPlace"},
	{"an update overtook a forwarded response of a raw proxy", "agent/proxy", "TestOrderOfResponsesAndNotifications"},
	{"a prompt that followed a cancel counted as cancelled", "client", "TestPromptAfterACancelGoesOn"},

	// Ends.
	{"Wait returned while the handler of a cancelled question still ran", "client", "TestWaitWaitsForAHandlerWhoseQuestionWasCancelled"},
	{"a handshake that was cancelled while it waited left the connection closed for ever", "internal/rpc", "TestHandshakeIsCancelledWhileItWaits"},
	{"of two loads of a session the one that failed detached the session of the other", "client", "TestTwoLoadsAtOnce"},
	{"a panic in OnUpdate's function stranded the updates after it", "client", "TestOnUpdateThatPanicsWhileUpdatesWait"},
	{"a turn succeeded although its updates had been dropped", "client", "TestTurnWhoseUpdatesWereDropped"},
	{"a turn failed because its result was null or empty", "client", "TestTurnWithoutAResult"},
	{"a zero client.Conn panicked", "client", "TestZeroConn TestZeroConnIsRefused"},
	{"a session that a network stream had lost could not be opened again", "client", "TestLostSessionIsOpenedAgain"},
	{"the same in version 2", "client/v2", "TestLostSessionIsResumed"},

	// Checks and forwarding.
	{"own mistakes left unchecked from a handler of another connection", "internal/rpc", "TestForwardingIsNotStricter"},
	{"members that no schema knows were lost to typed programs", "client", "TestRawResult TestRawParams TestAuthMethodOfAnUnknownKind"},
	{"members that no schema knows were lost in proxies", "agent/proxy", "TestTranscriptsPassUnchanged"},
	{"a version error that passed a proxy named the wrong version", "client", "TestVersionErrorThroughAProxy"},
	{"a message with both method and result", "internal/rpc", "TestUnusableMessages"},

	// Logs.
	{"a notification before initialize was dropped silently", "internal/rpc", "TestNotificationsBeforeTheHandshakeAreDropped"},
	{"a handler that ended because the peer left was logged as an error", "internal/rpc", "TestHandlersThatEndWithTheConnectionAreNoErrors"},
	{"warnings without a reason, and one for each error without an id", "internal/rpc", "TestUndecodableNotificationsAreDropped TestResponsesWithoutAnIDAreLoggedOnce"},

	{"something was logged while a lock was held", "internal/rpc", "TestNothingIsLoggedUnderALock"},

	// The parts of a host.
	{"an agent that was told no wrote the file and ran the command", "client/host", "TestNothingHappensWithoutAYes"},
	{"the first two requests of a session closed each other's folders", "client/files", "TestFirstRequestsAtOnce"},
	{"a hard link to a file outside was overwritten", "client/files", "TestHardLinks"},
	{"readers saw half-written files", "client/files", "TestWritesAreAtomic"},
	{"alias/../x read the wrong file", "client/files", "TestInside"},
	{"an unknown session was served", "client/files", "TestSessions TestOtherConnection"},
	{"the folder of a command was checked and then opened by its name", "client/terminals", "TestFolderIsExchanged"},
	{"secrets of the environment reached commands", "client/terminals", "TestEnvironment"},
	{"terminals were served to other sessions, and their ids could be guessed", "client/terminals", "TestForeignTerminals TestIDs"},
	{"shell lines were refused", "client/terminals", "TestShellOrNot"},

	// Programs.
	{"signals left agents running", "examples", "TestEveryExampleEndsOnSignals TestSignalsEndAgents TestSignalsEndTerminals"},
	{"an agent that prints something else was not quoted", "client", "TestConnectQuotesNoise"},
	{"the example agent created no file when the client responds to a missing one with -32603", "examples/agent/worker", "TestMissingFileOfAClientThatThrows"},
}

func TestRegressionsHaveTheirTests(t *testing.T) {
	sources := map[string]string{}
	seen := map[string]bool{}
	for _, r := range regressions {
		if sources[r.dir] == "" {
			names, err := filepath.Glob(filepath.FromSlash(r.dir) + "/*_test.go")
			require.NoError(t, err)
			for _, name := range names {
				text, err := os.ReadFile(name)
				require.NoError(t, err)
				sources[r.dir] += string(text)
			}
		}
		assert.False(t, seen[r.fault], "twice: %s", r.fault)
		seen[r.fault] = true
		for name := range strings.FieldsSeq(r.tests) {
			if !strings.Contains(sources[r.dir], "\nfunc "+name+"(t *testing.T)") { // assert.Contains would print all of it
				t.Errorf("%s has no %s: %s", r.dir, name, r.fault)
			}
		}
	}
}
