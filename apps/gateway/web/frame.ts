// The only script of the frame in which a sold page is shown: it takes the page from the document around it, and shows
// it in a frame of its own that may run nothing.

window.addEventListener('message', ({ source, data }: MessageEvent<unknown>) => {
  if (source !== window.parent || !(data instanceof Blob)) return;
  const frame = document.querySelector('iframe');
  if (frame !== null) frame.src = URL.createObjectURL(data);
});
