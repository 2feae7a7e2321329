/** Runs a function with the next animation frame, or soon where there is none or the page is hidden. */
export function nextFrame(run: () => void): void {
  let done = false;
  const once = () => {
    if (done) return;
    done = true;
    run();
  };
  if (typeof requestAnimationFrame === "function") {
    requestAnimationFrame(once);
    setTimeout(once, 100); // a hidden page has no frames
  } else {
    setTimeout(once, 16);
  }
}
