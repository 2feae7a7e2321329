import type { ReactNode } from "react";
import { Dialog } from "../ui/parts.js";

/** Asks before something that cannot be undone. */
export function Sure({
  title,
  about,
  yes,
  danger = false,
  onYes,
  onClose,
}: {
  title: string;
  about: string;
  yes: string;
  danger?: boolean;
  onYes: () => Promise<void>;
  onClose: () => void;
}): ReactNode {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{about}</p>
      <div className="actions">
        <button type="button" className={danger ? "danger" : "primary"} onClick={() => void onYes()}>
          {yes}
        </button>
      </div>
    </Dialog>
  );
}
