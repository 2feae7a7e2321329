package describe

import "github.com/spoolhq/spool/rest"

const aboutAGUI = `What an AG-UI 1.0 client, such as the HttpAgent of @ag-ui/client, posts to start a run, to answer what a
run waits for, or to see a run again; the answer is the run as server-sent events.

If the last message is the user's, it starts a run, and a message that the thread has already is answered again in its
place. The tools of the client are offered to the model for that run: a call of one ends the answer, and its result is
sent as a last message of the role tool, with which the run goes on. With resume, the answers go to the calls that wait,
all of them at once, and the run goes on. Otherwise, and for a run that this client has started before, the thread is
shown as it is.

Closing the connection does not stop the run, unless forwardedProps.spool.onDisconnect is stop, which needs the scope
stop. This needs the scope read too, and approve with resume.`

const aboutAGUIConnect = `What an AG-UI client posts to show a thread when its page opens: its messages, and a run that is not over live
to its end. No run is started, whatever the body has: only threadId and runId count. A thread that does not exist is
shown as an empty one.`

// Agents says in the document what the types of the AG-UI endpoint cannot say.
func Agents(api *rest.API, base string) {
	op := api.Huma().OpenAPI().Paths[base+"/api/agent/ag-ui"].Post
	op.RequestBody.Content["application/json"].Example = object{
		"threadId": "t1", "runId": "r1", "messages": []object{{"id": "m1", "role": "user", "content": "Hello"}},
	}
	shown := api.Huma().OpenAPI().Paths[base+"/api/agent/ag-ui/connect"].Post
	shown.RequestBody.Content["application/json"].Example = object{"threadId": "t1", "runId": "r1", "messages": []object{}}
	shown.Responses["200"].Description = "The events, each sent as soon as it is there, to the end of the run or to what it waits for."
	op.Responses["200"].Description = "The events, each sent as soon as it is there, to the end of the run or to what it waits for."
	refused := op.Responses["409"]
	refused.Description = "The thread has a run that is not over, or nothing waits for the answers. Nothing was changed."
	refused.Content["application/json"].Example = object{
		"accepted": false, "threadId": "t1", "reason": "active_run", "error": "Thread has an active run",
	}
}
