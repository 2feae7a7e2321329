// Package server is the HTTP surface of an [engine.Engine]: starting and stopping runs,
// answering parks, snapshots, the resumable event stream, usage, the list of threads,
// and the consumer of queue deliveries.
//
// A [Server] is an [http.Handler] with these endpoints below [Config].BasePath:
//
//	POST   /api/agent/run                start a run           scope write
//	POST   /api/agent/control            stop a run            scope stop
//	POST   /api/agent/respond            answer a park         scope approve
//	POST   /api/agent/sign-in            sign in to tools      scope write
//	POST   /api/agent/compact            summarise a thread    scope write
//	POST   /api/agent/events             publish an event      scope write
//	GET    /api/agent/history            snapshot of a thread  scope read
//	GET    /api/agent/stream             live stream (SSE)     scope read
//	GET    /api/agent/usage              tokens and context    scope read
//	GET    /api/agent/branches           list of branches      scope read
//	GET    /api/agent/branches/messages  messages of a branch  scope read
//	POST   /api/agent/branches/restore   restore a branch      scope write
//	POST   /api/agent/ag-ui              run, by AG-UI 1.0     scopes write, read
//	POST   /api/agent/ag-ui/connect      show, by AG-UI 1.0    scope read
//	GET    /api/threads                  list of threads       scope read
//	DELETE /api/threads                  delete a thread       scope write
//	POST   /api/queue/agent-run          queue delivery        signature
//	GET    /healthz                      liveness              open
//	GET    /openapi.json                 what is listed here   open
//	GET    /docs                         the same for people   open
//
// They are controllers of package rest, all in one table in routes.go, whose document says what they
// take and answer with: [Server.OpenAPI]. Requests may be milder than rest takes by itself, as the
// contract is older: see body.go. The handlers are in folders: runs, threads, stream, aguiapi,
// admin, queue and probe.
//
// # Authentication
//
// A server cannot be built without an [access.Authenticator] by accident. The tenant of every
// call is the principal's and never comes from a request, so that another tenant's
// thread answers exactly like one that does not exist.
//
// # Errors
//
// An error is {"error": "...", "code": "..."}: a sentence for a person, and a stable
// word for a program. A refusal (409) is no error; its body is the operation's own
// result, with a reason. What went wrong inside is logged once and never sent.
package server
