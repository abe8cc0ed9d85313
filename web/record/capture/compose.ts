/** The picture of a recording: the shared screen or camera, scaled to fit, with a camera in the corner if there is one. */
export interface Picture {
  readonly canvas: OffscreenCanvas;
  /** Draws what has arrived since the last call. @returns whether anything has changed. */
  draw(): boolean;
  close(): void;
}

/** Share of the height that the camera in the corner takes, and its distance from the edges. */
const cornerShare = 0.24;
const cornerGap = 16;

export function createPicture({
  width,
  height,
  main,
  camera,
}: {
  readonly width: number;
  readonly height: number;
  readonly main: ReadableStream<VideoFrame>;
  readonly camera: ReadableStream<VideoFrame> | null;
}): Picture {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d", { alpha: false });
  if (context === null) throw new Error("This browser can't draw pictures outside the page.");
  const base = latestOf(main);
  const corner = camera === null ? null : latestOf(camera);

  const drawInto = (frame: VideoFrame, left: number, top: number, boxWidth: number, boxHeight: number) => {
    const scale = Math.min(boxWidth / frame.displayWidth, boxHeight / frame.displayHeight);
    const [shownWidth, shownHeight] = [frame.displayWidth * scale, frame.displayHeight * scale];
    context.drawImage(
      frame,
      left + (boxWidth - shownWidth) / 2,
      top + (boxHeight - shownHeight) / 2,
      shownWidth,
      shownHeight,
    );
  };

  return {
    canvas,
    draw() {
      const isChanged = base.takeChange();
      if (!(corner?.takeChange() ?? false) && !isChanged) return false;
      context.fillStyle = "#000";
      context.fillRect(0, 0, width, height);
      if (base.frame !== null) drawInto(base.frame, 0, 0, width, height);
      if (corner?.frame) {
        const boxHeight = Math.round(height * cornerShare);
        const boxWidth = Math.round((boxHeight * corner.frame.displayWidth) / corner.frame.displayHeight);
        drawInto(
          corner.frame,
          width - boxWidth - cornerGap,
          height - boxHeight - cornerGap,
          boxWidth,
          boxHeight,
        );
      }
      return true;
    },
    close() {
      base.close();
      corner?.close();
    },
  };
}

/** Keeps the last frame of a stream only: each holds a buffer of the capturer. */
function latestOf(stream: ReadableStream<VideoFrame>) {
  const reader = stream.getReader();
  let isChanged = false;
  const state = {
    frame: null as VideoFrame | null,
    /** Whether a frame has arrived since the last call. */
    takeChange(): boolean {
      const result = isChanged;
      isChanged = false;
      return result;
    },
    close(): void {
      void reader.cancel().catch(() => undefined);
      state.frame?.close();
      state.frame = null;
    },
  };
  const read = async (): Promise<void> => {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      state.frame?.close();
      state.frame = value;
      isChanged = true;
    }
  };
  // The last picture stays when a track ends.
  read().catch(() => undefined);
  return state;
}
