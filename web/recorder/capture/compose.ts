/** The picture of a recording: the shared screen or camera, scaled to fit, with a camera in the corner if there is one. */
export interface Picture {
  /**
   * The picture now, which the caller closes.
   * @param isDue also returns a picture that has not changed.
   * @returns null if nothing has arrived since the last call.
   */
  take(isDue: boolean): Promise<VideoFrame | null>;
  close(): void;
}

/** Share of the height that the camera in the corner takes, and its distance from the edges. */
const cornerShare = 0.24;
const cornerGap = 16;

interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

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
  const base = latestOf(main);
  const corner = camera === null ? null : latestOf(camera);
  let canvas: ReturnType<typeof createCanvas> | null = null;

  return {
    async take(isDue) {
      const isChanged = base.takeChange();
      if (!(corner?.takeChange() ?? false) && !isChanged && !isDue) return null;
      // The usual case: nothing is drawn.
      if (corner === null && base.frame !== null && fits(base.frame, width, height))
        return base.frame.clone();
      canvas ??= createCanvas(width, height);
      canvas.clear();
      if (base.frame !== null) await canvas.draw(base.frame, { left: 0, top: 0, width, height });
      if (corner?.frame) await canvas.draw(corner.frame, cornerBox(corner.frame, width, height));
      return canvas.frame();
    },
    close() {
      base.close();
      corner?.close();
    },
  };
}

/** Whether a frame can be encoded as it is. */
function fits(frame: VideoFrame, width: number, height: number): boolean {
  const { codedWidth, codedHeight, displayWidth, displayHeight } = frame;
  const isWhole = codedWidth === displayWidth && codedHeight === displayHeight;
  return isWhole && displayWidth === width && displayHeight === height && !isTurned(frame);
}

/** TypeScript's DOM library lacks the property, and so do older browsers. */
function isTurned(frame: VideoFrame): boolean {
  return ((frame as { rotation?: number }).rotation ?? 0) !== 0;
}

function cornerBox(frame: VideoFrame, width: number, height: number): Box {
  const boxHeight = Math.round(height * cornerShare);
  const boxWidth = Math.round((boxHeight * frame.displayWidth) / frame.displayHeight);
  return {
    left: width - boxWidth - cornerGap,
    top: height - boxHeight - cornerGap,
    width: boxWidth,
    height: boxHeight,
  };
}

function createCanvas(width: number, height: number) {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d", { alpha: false });
  if (context === null) throw new Error("This browser can't draw pictures outside the page.");
  let bytes = new Uint8ClampedArray();

  /** Chromium without a GPU never frees what it needs to draw a frame; it frees a bitmap. */
  const bitmapOf = async (frame: VideoFrame): Promise<ImageBitmap> => {
    const size = frame.allocationSize({ format: "RGBA" });
    if (bytes.length !== size) bytes = new Uint8ClampedArray(size);
    await frame.copyTo(bytes, { format: "RGBA" });
    const { width, height } = frame.visibleRect ?? { width: frame.codedWidth, height: frame.codedHeight };
    return createImageBitmap(new ImageData(bytes, width, height));
  };

  return {
    clear() {
      context.fillStyle = "#000";
      context.fillRect(0, 0, width, height);
    },
    /** Draws a frame scaled to fit, in the middle of a box. */
    async draw(latest: VideoFrame, box: Box): Promise<void> {
      const frame = latest.clone();
      try {
        const scale = Math.min(box.width / frame.displayWidth, box.height / frame.displayHeight);
        const [shownWidth, shownHeight] = [frame.displayWidth * scale, frame.displayHeight * scale];
        const left = box.left + (box.width - shownWidth) / 2;
        const top = box.top + (box.height - shownHeight) / 2;
        // A bitmap would lose the rotation; and older browsers can't convert bytes.
        const image = isTurned(frame) ? frame : await bitmapOf(frame).catch(() => frame);
        context.drawImage(image, left, top, shownWidth, shownHeight);
        image.close();
      } finally {
        frame.close();
      }
    },
    frame: () => new VideoFrame(canvas, { timestamp: 0 }),
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
