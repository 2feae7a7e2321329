import { ExportedMessageRepository, type ThreadHistoryAdapter } from "@assistant-ui/react";
import { fromAgUiMessages } from "@assistant-ui/react-ag-ui";
import type { SpoolAgent } from "./spool-agent";

/** Shows the thread when the page opens, with the questions that are open. The server keeps it: nothing is saved here. */
export function spoolHistory(agent: SpoolAgent): ThreadHistoryAdapter {
  return {
    async load() {
      const shown = agent.clone() as SpoolAgent;
      await shown.connectAgent();
      const messages: unknown[] = [...shown.messages];
      const at = shown.messages.findLastIndex((m) => m.role === "assistant");
      if (at >= 0 && shown.pendingInterrupts.length > 0) {
        messages[at] = { ...shown.messages[at], metadata: { custom: { agui: { interrupts: shown.pendingInterrupts } } } };
      }
      return ExportedMessageRepository.fromArray(fromAgUiMessages(messages));
    },
    async append() {},
  };
}
