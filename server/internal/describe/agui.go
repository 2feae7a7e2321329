package describe

import "github.com/spoolhq/spool/rest"

const aboutAGUI = `An AG-UI client, such as the HttpAgent of @ag-ui/client, posts here to start a run, to answer what a run
waits for, or to see a run again. The answer is the run as server-sent events.

If the last message is the user's, the post starts a run. If the thread already has that message, the agent answers it again, and the new
answer replaces everything after the message. The model gets the client's tools for that run. A call of such a tool ends the answer: the client sends the result
as a last message with the role tool, and the run continues. With resume, the post answers all calls that wait at once, and the run
continues. In all other cases, and for a run that this client has started before, the post shows the thread as it is.

If the client closes the connection before the end, forwardedProps.spool.onDisconnect says what happens to the run. With continue, it goes
on. With stop, it is stopped at once, which needs the scope stop. Without onDisconnect, it is stopped ten seconds later, unless a client follows
the thread by then, or the caller lacks the scope stop. The post also needs the scope read, and approve with resume.`

const aboutAGUIConnect = `An AG-UI client posts here to show a thread when its page opens. The answer has the thread's messages and, if a
run is not over, that run live until its end. No run is started, whatever the body has: only threadId, runId, state and
protocolVersion count. A thread that does not exist is shown as an empty one.`

// Agents adds to the document what the types of the AG-UI endpoints cannot express.
func Agents(api *rest.API, base string) {
	op := api.Huma().OpenAPI().Paths[base+"/api/agent/ag-ui"].Post
	op.RequestBody.Content["application/json"].Example = object{
		"threadId": "t1", "runId": "r1", "protocolVersion": "1.0",
		"messages": []object{{"id": "m1", "role": "user", "content": "Hello"}},
	}
	shown := api.Huma().OpenAPI().Paths[base+"/api/agent/ag-ui/connect"].Post
	shown.RequestBody.Content["application/json"].Example = object{
		"threadId": "t1", "runId": "r1", "protocolVersion": "1.0", "messages": []object{},
	}
	shown.Responses["200"].Description = "The events, each sent at once, until the run ends or waits for an answer."
	op.Responses["200"].Description = "The events, each sent at once, until the run ends or waits for an answer."
	refused := op.Responses["409"]
	refused.Description = "The thread has a run that is not over, or nothing waits for the answers. Nothing was changed."
	refused.Content["application/json"].Example = object{
		"accepted": false, "threadId": "t1", "reason": "active_run", "error": "Thread has an active run",
	}
}
