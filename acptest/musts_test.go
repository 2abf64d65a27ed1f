package acptest

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acptest/internal/agents"
	"github.com/acpkit/go-sdk/acptest/internal/check"
	"github.com/acpkit/go-sdk/acptest/internal/clients"
	"github.com/acpkit/go-sdk/acptest/internal/defect"
)

// must is what the protocol demands of one end, and the defects that break it.
type must struct {
	in      check.Versions
	rule    string
	defects string
}

// Each rule that the protocol states for an end, and that the other end can see, has a defect in each
// version that has the rule, and a check finds it. What the other end cannot see is in docs/checks.md.
func TestEachMustHasADefect(t *testing.T) {
	for _, role := range []struct {
		name    string
		suite   check.Suite
		musts   []must
		defects []defect.Defect
	}{{"agents", agents.Suite(), mustsOfAgents, defect.Agents}, {"clients", clients.Suite(), mustsOfClients, defectsOfClients()}} {
		for _, m := range role.musts {
			names := strings.Fields(m.defects)
			broken := check.Versions(0)
			for _, name := range names {
				i := slices.IndexFunc(role.defects, func(d defect.Defect) bool { return d.Name == name })
				if assert.GreaterOrEqual(t, i, 0, "%s have no defect %s", role.name, name) {
					broken |= found(&role.defects[i], role.suite)
				}
			}
			for _, version := range []int{1, 2} {
				assert.True(t, !m.in.Has(version) || broken.Has(version), "%s, version %d: no defect breaks the rule: %s", role.name, version, m.rule)
			}
		}
	}
	for _, d := range defect.Network {
		assert.True(t, slices.ContainsFunc(mustsOfServers, func(m must) bool { return slices.Contains(strings.Fields(m.defects), d.Name) }), "%s breaks no rule", d.Name)
	}
	for _, m := range mustsOfServers {
		for name := range strings.FieldsSeq(m.defects) {
			assert.True(t, slices.ContainsFunc(defect.Network, func(d defect.NetworkDefect) bool { return d.Name == name }), "servers have no defect %s", name)
		}
		assert.NotEmpty(t, m.defects, "no defect breaks the rule: %s", m.rule)
	}
}

// found returns the versions in which a check of a suite finds a defect.
func found(d *defect.Defect, suite check.Suite) (in check.Versions) {
	for _, version := range []int{1, 2} {
		if (d.In == 0 || d.In.Has(version)) && slices.ContainsFunc(suite.Checks, func(c check.Check) bool { return c.In.Has(version) && d.Found(c.ID, version) }) {
			in |= 1 << version
		}
	}
	return in
}

var mustsOfAgents = []must{
	{check.Both, "Standard output has one JSON-RPC message a line, and nothing else.", "banner_on_stdout"},
	{check.Both, "Messages are UTF-8.", "invalid_utf8"},
	{check.Both, "A message ends at a line feed, and nowhere else.", "ends_lines_at_unicode one_line_at_a_time"},
	{check.Both, "CR LF and blank lines are read.", "no_crlf no_blank_lines"},
	{check.Both, "A line that is not JSON is answered with -32700 and the id null, and the connection goes on.", "stops_at_bad_json silent_at_bad_json"},
	{check.Both, "What is no message, and an array, is answered with -32600, and the connection goes on.", "stops_at_scalars stops_at_batch ignores_batch"},
	{check.Both, "A message of 32 MiB is read.", "short_lines short_prompts"},
	{check.Both, "The agent ends with its input, and so does what it has started.", "ignores_end leaves_processes leaves_zombies"},

	{check.Both, "Each message has jsonrpc 2.0.", "no_jsonrpc"},
	{check.Both, "A response has either a result or an error.", "result_and_error"},
	{check.Both, "An error has a code and a message.", "empty_errors"},
	{check.Both, "Codes of one's own are outside of the ranges that are reserved.", "reserved_codes"},
	{check.Both, "Errors and logs show no secrets.", "shows_params shows_stack"},
	{check.Both, "The id of a request is returned as it is.", "ignores_id_0 ignores_string_ids rounds_ids ignores_negative_ids ignores_large_ids takes_text_for_number"},
	{check.Both, "Each end has ids of its own.", "mixes_up_ids"},
	{check.Both, "An id belongs to one request until it is answered, and may be used again then.", "repeats_questions ids_only_once"},
	{check.V1, "An id that is used twice does not take away a response.", "forgets_id"},
	{check.Both, "The id null does not end the connection.", "stops_at_id_null"},
	{check.V2, "Ids are strings or integers; null and fractions are refused with -32600 and the id null.", "fractional_ids serves_fractions"},
	{check.Both, "A request is answered once.", "answers_twice wrong_id_echo answers_cancel_and_end"},
	{check.Both, "Notifications and responses are not answered.", "answers_notifications answers_responses"},
	{check.Both, "A request for a method that is not known fails with -32601, those of extensions too.", "knows_every_method other_code_for_methods silent_extensions knows_every_extension"},
	{check.V1, "A method whose capability is not advertised fails.", "serves_unadvertised"},
	{check.Both, "Params that cannot be read fail with -32602.", "internal_error_for_params"},
	{check.Both, "Members that are not known are ignored.", "strict_members"},
	{check.Both, "Null is read as a member that is absent, where the schema lets it be null.", "refuses_null"},
	{check.Both, "Methods of extensions begin with an underscore.", "unknown_methods"},
	{check.V2, "Words of extensions begin with an underscore.", "own_words unknown_kinds unknown_method_type bare_content_in_updates"},
	{check.Both, "Each method has a direction, and is a request or a notification.", "sends_as_client updates_as_requests"},
	{check.Both, "Each message is as the schema of its method says.", "invalid_updates untitled_tool_calls text_for_base64 asks_without_options"},
	{check.Both, "Members that readers forgive are as the schema says too.", "number_for_date wrong_status bare_content misshapen_capabilities"},
	{check.Both, "All paths are absolute.", "relative_locations relative_folders"},

	{check.Both, "initialize succeeds, also if nobody is signed in.", "refuses_initialize"},
	{check.Both, "Nothing is sent before initialize.", "speaks_early"},
	{check.Both, "The agent answers with a version that it speaks.", "echoes_any_version speaks_version_0"},
	{check.V2, "That is the highest one up to the one that was asked for; else -32022 says which there are.", "refuses_version_1 hides_versions"},
	{check.V2, "The agent has a name and a version.", "nameless"},
	{check.V2, "A request before initialize fails with -32600.", "serves_before_initialize"},
	{check.V2, "initialize after other requests fails with -32600.", "initializes_late"},
	{check.Both, "An initialize that fails leaves the connection as it was.", "dies_at_bad_initialize dies_at_second_initialize"},
	{check.Both, "Capabilities have the types of the schema.", "misshapen_capabilities"},

	{check.Both, "A cancel of a request that is not known, or was answered, is ignored.", "stops_at_unknown_cancel cancels_what_has_ended"},
	{check.Both, "Members that are not required may be absent.", "needs_capabilities refuses_null_meta"},
	{check.Both, "The requests of an array are not answered one by one.", "takes_batches_apart"},
	{check.V1, "A request with the id null is answered.", "takes_id_null_for_none"},
	{check.Both, "A mode of elicitation is used if the client has advertised it.", "forms_for_all"},
	{check.V1, "Each capability of files is looked at by itself.", "one_capability_for_files"},
	{check.V1, "What was refused is not done.", "writes_in_any_case"},
	{check.Both, "Only the outcome selected allows.", "reads_option_alone"},
	{check.Both, "Updates of options have all of them.", "tells_one_option"},
	{check.V1, "Settings may be changed while a turn runs.", "modes_fail_while_working options_fail_while_working"},
	{check.Both, "Session methods fail with -32000 before a sign-in.", "fails_before_sign_in"},
	{check.Both, "Additional directories are those of the latest request.", "keeps_directories"},
	{check.Both, "Nothing removes the duty to answer a request.", "forgets_cancelled_requests forgets_withdrawn_prompts"},
	{check.V1, "A cancel is one of the id as it is.", "cancels_by_text"},
	{check.Both, "A cancelled turn ends as cancelled, not with an error.", "cancel_wrong_stop_reason fails_cancelled_turns fails_after_cancel_request cancel_returns_error errors_when_cancelled"},
	{check.Both, "A cancel counts from the prompt on, also while text is sent and while permission is asked for.", "forgets_early_cancel hangs_until_cancel cancelled_question_ends_turn"},
	{check.Both, "A cancel without a turn does nothing, and neither does a second one.", "remembers_cancel dies_at_second_cancel dies_at_unknown_session"},
	{check.Both, "A cancel is one of its session, and of no later prompt.", "cancels_all_sessions no_turn_after_cancel"},
	{check.Both, "The updates of a cancelled turn precede its end.", "update_after_cancel"},
	{check.V2, "Prompts that wait when the work is cancelled fail with -32800.", "cancel_wrong_stop_reason"},
	{check.V2, "The agent cancels the questions of a turn that is cancelled.", "keeps_questions"},
	{check.V2, "What cannot be cancelled alone fails with -32602.", "cancels_any_tool cancels_any_terminal"},
	{check.Both, "session/cancel as a request is answered.", "notes_cancel_requests"},

	{check.Both, "session/new returns an id of its own for each session.", "no_session_id duplicate_session_id"},
	{check.Both, "Additional directories are taken if that is advertised.", "refuses_directories"},
	{check.V2, "MCP servers may be left out; two of one name, and other transports, fail with -32602.", "wants_mcp_servers same_mcp_names any_mcp_transport"},
	{check.Both, "Messages name sessions that the client knows, each its own.", "update_wrong_session answers_elsewhere"},
	{check.Both, "A session that does not exist fails with -32002.", "prompts_without_session session_internal_error loads_unknown resumes_unknown"},
	{check.Both, "The whole history is sent, in its order, as often as it is asked for.", "loads_once load_doubles reorders loads_into_newest replays_no_tool_calls"},
	{check.Both, "The history precedes the response.", "load_replays_after_response"},
	{check.Both, "A session that was opened again goes on.", "no_turn_after_load no_turn_after_resume loads_own_only"},
	{check.Both, "Without a place to replay from nothing is replayed.", "resume_replays"},
	{check.V2, "A place to replay from that is not known fails with -32602.", "resumes_anywhere"},
	{check.V2, "A session that was resumed reports its state before the response.", "resumes_stateless"},
	{check.V2, "Messages keep their ids in the history, where a whole one precedes its chunks.", "changes_ids replays_chunks_only"},
	{check.V2, "The end of each replay is told once, behind it, for the sessions that it announces too.", "replays_endlessly replay_told_twice replay_never_asked replays_behind_the_end child_replays_endlessly"},
	{check.Both, "The list has each session of the folder once, on pages that end.", "lists_all_folders lists_prefixes lists_other_folder loses_the_last endless_list empty_list"},
	{check.Both, "A cursor of a list that is not known fails with -32602.", "any_cursor"},
	{check.V2, "An empty text is a cursor.", "takes_empty_cursor_for_none"},
	{check.Both, "A deleted session is not listed, and deleting it again succeeds.", "keeps_deleted delete_fails deletes_all deletes_late"},
	{check.Both, "session/close ends the turn as cancelled, keeps the history, and succeeds again.", "close_fails close_ends_turn close_unknown_fails close_forgets close_deletes close_cancels_all prompts_after_close"},
	{check.V2, "The end of the turn precedes the response to session/close, and nothing follows it.", "closes_before_the_end updates_after_close"},

	{check.Both, "Text and links are taken in each prompt.", "refuses_resource_link"},
	{check.Both, "The kinds of content that are advertised are taken.", "refuses_image refuses_audio refuses_resource"},
	{check.V2, "A prompt without content fails with -32602.", "empty_prompts"},
	{check.Both, "A turn ends with a stop reason of the protocol.", "own_stop_reason"},
	{check.Both, "The updates of a turn precede its end.", "update_after_response"},
	{check.V1, "The questions of a turn precede its end.", "asks_late"},
	{check.Both, "A status that ends a tool call is its last one.", "ends_tool_calls_twice"},
	{check.V1, "A tool call is created once.", "tool_calls_twice"},
	{check.Both, "A turn has messages of its own.", "one_message"},
	{check.V1, "A terminal is used from its creation to its release.", "unknown_terminals"},
	{check.Both, "The order on the wire is the order of meaning.", "reorders"},
	{check.Both, "A prompt is answered, whatever else runs.", "deaf_while_working one_turn one_turn_for_all"},
	{check.V2, "A prompt is answered when it becomes a message, with its id, in the order of the prompts.", "late_receipts no_echo same_message_ids exchanges_prompts"},
	{check.V2, "A session is running before it is idle, and reports background work always or never.", "never_running forgets_background"},
	{check.V2, "A session that asks its user requires action.", "never_requires_action"},
	{check.Both, "The pieces of a message have its id.", "new_message_ids"},

	{check.Both, "A question offers options with ids of their own.", "no_reject"},
	{check.Both, "Nothing is done without an option that allows it.", "ignores_reject ignores_cancelled_question ignores_failed_question any_option_allows uses_late_permission mixes_up_answers"},
	{check.Both, "A turn goes on after the answer.", "hangs_after_permission"},
	{check.V1, "A tool call begins before it is changed, and has ended when its turn ends.", "unknown_tools open_tool_calls tool_ids_again"},
	{check.V2, "The first update of a tool call has a title.", "untitled_tools"},
	{check.Both, "What needs a capability of the client is left out without it.", "uses_unadvertised unasked_suggestions unasked_notices unasked_compaction unasked_subagents unasked_switches unasked_cursors unasked_skills plans_by_id"},
	{check.V1, "Files and terminals are those of a client that has them.", "ignores_capabilities"},
	{check.V1, "Files are named by absolute paths.", "reads_relative writes_relative"},
	{check.V1, "A turn goes on when the client fails.", "fails_with_client"},
	{check.V1, "Each terminal is released.", "keeps_terminals"},

	{check.V1, "The mode is one that is offered, and only such a one is set.", "unknown_mode mode_fails any_mode modes_wait"},
	{check.V1, "The mode and the option of the mode are one.", "modes_apart modes_alone options_alone"},
	{check.Both, "The values of options are offered, and only such ones are set, in their session.", "unknown_value any_value sets_everywhere shares_options same_option_ids settings_wait"},
	{check.Both, "Options are told as a whole.", "one_option old_value"},
	{check.V2, "Names of commands have no space.", "command_with_space"},
	{check.V1, "Methods to sign in have ids of their own.", "one_method_twice"},
	{check.Both, "Methods that need a terminal are offered to clients that have one, and can be used.", "offers_terminal broken_variables"},
	{check.Both, "After a sign-in sessions can be started, and only methods that are offered sign in.", "forgets_sign_in any_method"},

	{check.Both, "The state of the sign-in is told as it is, and unasked when it has changed.", "status_fails denies_sign_in signed_in_in_vain repeats_status unadvertised_status"},

	{check.Both, "session/options starts nothing.", "options_start options_are_listed"},
	{check.Both, "Values for the start of a session hold, and those that do not fit are ignored.", "ignores_options strict_options"},
	{check.V2, "A value of a type that the agent does not know fails with -32602.", "internal_error_for_params"},
	{check.Both, "A system prompt is applied, or fails.", "any_system_prompt no_system_prompt"},
	{check.Both, "The first update of a cursor has its anchor.", "cursor_without_anchor"},
	{check.Both, "A fork is a session of its own, from a cursor that was told.", "forks_anywhere forks_itself"},
	{check.Both, "The status of a session tells whether it is open, and fails with -32002 if there is none.", "open_is_saved status_of_nobody"},
	{check.Both, "A title is returned as it is stored, and a blank one fails with -32602.", "loses_titles blank_titles"},
	{check.Both, "A session that is archived is not listed; one that does not exist fails with -32002.", "archives_nothing archives_nobody"},
	{check.Both, "Suggestions are not blank, and have only content that the agent takes in prompts.", "blank_suggestions unsendable_suggestions"},
	{check.V2, "Skills are listed by agents that take them, and only those that are listed are taken.", "takes_no_skills any_skill"},
	{check.Both, "A turn ends also for a client that shows everything.", "fails_when_shown"},
}

var mustsOfClients = []must{
	{check.Both, "Only JSON-RPC messages are written.", "prints_a_banner no_jsonrpc"},
	{check.Both, "Messages are UTF-8.", "invalid_utf8"},
	{check.Both, "What is required suffices, and null stands for what is absent.", "needs_members stops_at_modes needs_content"},
	{check.Both, "Each kind of content and update is read.", "stops_at_links"},
	{check.V1, "Params that are missing fail.", "takes_what_is_missing"},
	{check.V1, "A path is taken as it is, and a file that is not there is created.", "unquotes_paths replaces_only"},
	{check.V1, "A wait is answered when its terminal is released.", "forgets_waits"},
	{check.Both, "A client names the sessions that it has opened.", "cancels_elsewhere"},
	{check.Both, "A message ends at a line feed, and nowhere else.", "ends_lines_at_unicode"},
	{check.Both, "CR LF and blank lines are read.", "stops_at_empty_lines"},
	{check.Both, "What is no message does not end the connection.", "stops_at_bad_json stops_at_batches stops_at_bad_utf8 stops_at_latin_1 stops_at_null_id"},
	{check.Both, "Long messages, and many, are read.", "reads_short_lines drowns"},
	{check.Both, "The id of a request is returned as it is.", "empty_id_is_none rounds_ids ignores_id_0 ignores_negative_ids ignores_large_ids takes_text_for_number"},
	{check.Both, "Each end has ids of its own.", "mixes_up_ids"},
	{check.V1, "An id belongs to one request until it is answered.", "uses_ids_twice"},
	{check.V2, "Ids are strings or integers.", "fractional_ids"},
	{check.Both, "A request is answered once, and nothing else is.", "answers_twice repeats_answers answers_cancel_and_end answers_unasked answers_notifications"},
	{check.Both, "Nothing removes the duty to answer a request, not even its cancel.", "forgets_cancelled_requests forgets_cancelled_waits"},
	{check.Both, "A cancel of a request that is not known is ignored.", "stops_at_unknown_cancel"},
	{check.Both, "A response to no request is ignored.", "stops_at_unknown_response"},
	{check.Both, "A request for a method that is not known fails with -32601.", "knows_every_method other_code_for_methods needs_params"},
	{check.Both, "Params that cannot be read fail.", "answers_nonsense"},
	{check.Both, "Members, updates and content that are not known are ignored.", "refuses_unknown_members stops_at_unknown_updates stops_at_unknown_content stops_at_unknown_options stops_at_unknown_priorities stops_at_unknown_kinds"},
	{check.Both, "Requests are answered while one's own are in flight.", "waits_for_its_own_request"},
	{check.Both, "Methods of extensions begin with an underscore.", "invents_methods"},
	{check.V2, "Words of extensions begin with an underscore.", "own_words"},
	{check.Both, "Each method has a direction.", "sends_updates"},
	{check.V1, "Each method is a request or a notification.", "notes_new_sessions"},
	{check.Both, "Each message is as the schema of its method says.", "invalid_prompts"},
	{check.V1, "Null is read as a param that is absent, where the schema lets it be null.", "refuses_null refuses_null_lines"},
	{check.V1, "Members that readers forgive are as the schema says too.", "wrong_titles"},
	{check.Both, "All paths are absolute.", "relative_folder relative_directories"},

	{check.Both, "initialize is the first message.", "begins_without_initialize asks_early"},
	{check.V2, "initialize is not repeated after other requests.", "initializes_again"},
	{check.Both, "An agent whose version is not spoken, or that refuses initialize, gets no session.", "accepts_any_version ignores_refusal"},
	{check.Both, "What is not known in the result of initialize is ignored.", "stops_at_unknown_capability"},
	{check.Both, "A session that was refused gets no prompt, and its id is used as it is.", "prompts_without_session lowers_session_ids"},
	{check.V1, "A user signs in by a method that is offered, and not by one that needs a terminal.", "signs_in_by_guess signs_in_without_terminal"},
	{check.Both, "What needs a capability of the agent is left out without it.", "sends_images unasked_values unasked_directories loads_unadvertised"},
	{check.Both, "A system prompt has text, and nothing else.", "empty_system_prompt"},
	{check.V2, "A skill is the first block of a prompt, unless the agent takes it anywhere.", "skills_anywhere"},
	{check.Both, "A session is forked at a cursor that was told.", "forks_anywhere"},

	{check.Both, "Updates are read before, in and after a turn, and those of unknown sessions are ignored.", "stops_at_early_updates stops_at_late_updates stops_at_unknown_sessions answers_updates answers_usage"},
	{check.Both, "A tool call may begin with its update.", "needs_tool_call"},
	{check.V1, "A prompt that fails is borne.", "stops_at_failed_prompt"},
	{check.Both, "A question is answered by an option that it offers, or as cancelled.", "invents_options cancels_questions answers_first_question"},
	{check.Both, "An option is chosen by its kind.", "takes_the_first_option chooses_by_name allows_unknown_kinds"},
	{check.Both, "Nothing is allowed in sessions that are not open, or after a cancel.", "allows_in_unknown_sessions allows_after_cancel"},
	{check.V1, "Questions that are pending when the turn is cancelled get the outcome cancelled.", "decides_late"},
	{check.V2, "A question may have a subject of an unknown kind.", "refuses_other_subjects"},
	{check.V1, "A form is accepted with what it requires, of the types that it asks for.", "sends_empty_forms text_for_numbers"},
	{check.Both, "A mode of elicitation that is not advertised fails.", "accepts_any_mode"},
	{check.Both, "What is not advertised is not served.", "serves_unadvertised"},
	{check.V1, "What is advertised is served.", "serves_no_writes"},

	{check.V1, "A file is read as it is, by lines from 1.", "reads_ascii drops_byte_order_marks reads_line_feeds cuts_lines_at_form_feeds counts_lines_from_0 limit_is_last limit_0_is_none reads_no_lines refuses_empty_files reads_to_the_end reads_behind_the_end empty_files_have_lines cuts_large_files mixes_up_files"},
	{check.V1, "What is no file, or does not exist, cannot be read: -32002.", "reads_missing_files other_code_for_missing_files reads_folders waits_for_pipes"},
	{check.V1, "A file is written as it is, as a whole, and is then read so.", "writes_ascii writes_no_empty_files writes_line_feeds writes_twice keeps_the_rest claims_to_write writes_folders reads_old_text"},
	{check.V1, "Files are those of the folders of the session.", "serves_outside_roots"},
	{check.V1, "terminal/create returns at once, and no request of a terminal waits for another one.", "creates_late waits_alone one_wait"},
	{check.V1, "The output and the exit of a command are told as they are, for each terminal.", "loses_exit_codes hides_signals no_exit_status early_exit_status mixes_up_output splits_characters"},
	{check.V1, "Of a long output the end is kept, and marked as cut.", "hides_truncation"},
	{check.V1, "A command runs with its arguments and variables, in its folder.", "drops_variables own_variables_win replaces_variables expands_arguments runs_at_root runs_missing_commands"},
	{check.V1, "A terminal is valid until it is released, also if its command was killed.", "kills_terminals keeps_terminals knows_every_terminal kill_clears"},
	{check.V1, "kill and release end a command.", "leaves_children"},
	{check.V1, "Commands run in sessions that are open.", "runs_in_unknown_sessions"},
	{check.Both, "The client ends, or goes on for its user, when its agent ends or does not answer.", "lingers"},
}

// mustsOfServers are those of the HTTP that carries messages, in both versions.
var mustsOfServers = []must{
	{0, "A POST of initialize is answered with 200 and the id of a connection.", "no_connection_id"},
	{0, "A POST of a further message is answered with 202.", "answers_posts_with_200"},
	{0, "A connection that does not exist is 404.", "forgives_unknown_connections"},
	{0, "A POST of another type than JSON is 415.", "takes_any_content"},
	{0, "An array is refused.", "takes_batches"},
	{0, "A GET that does not accept an event stream is 406.", "streams_to_everyone"},
	{0, "A stream has one reader.", "streams_twice"},
	{0, "DELETE ends a connection.", "keeps_deleted_connections"},
	{0, "The session of the header is that of the params.", "ignores_session_header"},
	{0, "Origins and hosts that are not known are refused.", "trusts_every_origin trusts_every_host"},
	{0, "Without its token nothing is served.", "needs_no_token"},
	{0, "A stream on which nothing happens shows that it lives.", "silent_streams"},
	{0, "A stream that was cut continues with the event after the last one.", "resumes_one_late"},
	{0, "What belongs to a session goes to its stream.", "one_stream_for_all"},
	{0, "The messages of a WebSocket are text frames.", "binary_frames"},
	{0, "The response to the handshake of a WebSocket has the id of the connection.", "no_id_for_sockets"},
}
