// Search is a worker, and browsers start none from a file. So, where the site is read from a disk, the worker's script runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = null;
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.srcdoc = "<!doctype html><title>search</title>";
      frame.onload = () => {
        const inner = frame.contentWindow;
        const tell = (data) => {
          const event = new MessageEvent("message", { data });
          this.dispatchEvent(event);
          if (this.onmessage) this.onmessage(event);
        };
        inner.postMessage = tell; // what the worker says
        inner.importScripts = (...urls) =>
          Promise.all(
            urls.map(
              (each) =>
                new Promise((done) => {
                  const script = inner.document.createElement("script");
                  script.src = new URL(each, url);
                  script.onload = done;
                  inner.document.body.append(script);
                }),
            ),
          );
        const script = inner.document.createElement("script");
        script.src = url;
        script.onload = () => {
          this.inner = inner;
          for (const data of this.waiting.splice(0)) this.send(data);
        };
        inner.document.body.append(script);
      };
      document.addEventListener("DOMContentLoaded", () => document.body.append(frame));
      if (document.body) document.body.append(frame);
    }
    postMessage(data) {
      if (this.inner) this.send(data);
      else this.waiting.push(data);
    }
    send(data) {
      setTimeout(() => this.inner.dispatchEvent(new this.inner.MessageEvent("message", { data })));
    }
    terminate() {}
  };
}
