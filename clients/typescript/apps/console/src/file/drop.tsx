// A saved thread that is dropped anywhere on the page opens.
import { type ReactNode, useEffect, useState } from "react";
import { go, to } from "../route.js";
import { keepFile } from "./kept.js";

export function DropTarget({ children }: { children: ReactNode }): ReactNode {
  const [over, setOver] = useState(false);
  useEffect(() => {
    const files = (event: DragEvent) => event.dataTransfer?.types.includes("Files") === true;
    const onOver = (event: DragEvent) => {
      if (files(event)) {
        event.preventDefault();
        setOver(true);
      }
    };
    const onLeave = (event: DragEvent) => event.relatedTarget === null && setOver(false);
    const onDrop = (event: DragEvent) => {
      setOver(false);
      const file = event.dataTransfer?.files[0];
      if (file !== undefined && !event.defaultPrevented) {
        event.preventDefault();
        keepFile(file);
        go(to.file);
      }
    };
    window.addEventListener("dragover", onOver);
    window.addEventListener("dragleave", onLeave);
    window.addEventListener("drop", onDrop);
    return () => {
      window.removeEventListener("dragover", onOver);
      window.removeEventListener("dragleave", onLeave);
      window.removeEventListener("drop", onDrop);
    };
  }, []);
  return (
    <>
      {children}
      {over && (
        <div className="drop" aria-hidden="true">
          Drop a saved thread to read it
        </div>
      )}
    </>
  );
}
