import { HttpAgent, runHttpRequest, transformHttpEventStream, type RunAgentInput } from "@ag-ui/client";

/** The stock HttpAgent, which also shows a thread when the page opens, and stops its run only when asked to. */
export class SpoolAgent extends HttpAgent {
  protected requestInit(input: RunAgentInput) {
    const spool = { onDisconnect: "continue", ...input.forwardedProps?.spool }; // the page comes back by connect
    return super.requestInit({ ...input, forwardedProps: { ...input.forwardedProps, spool } });
  }

  protected connect(input: RunAgentInput) {
    this.abortController = new AbortController(); // the last run's may be aborted
    return transformHttpEventStream(runHttpRequest(() => this.fetch(`${this.url}/connect`, this.requestInit(input))));
  }

  abortRun() {
    void this.fetch(this.url.replace(/ag-ui$/, "control"), {
      method: "POST",
      headers: { ...this.headers, "Content-Type": "application/json" },
      body: JSON.stringify({ threadId: this.threadId }),
    });
    super.abortRun();
  }
}
