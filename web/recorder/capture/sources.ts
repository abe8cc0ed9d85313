/** What the user wants to record. */
export interface Choice {
  readonly picture: "screen" | "camera" | "none";
  /** The sound of the shared tab, window or screen. */
  readonly sharedSound: boolean;
  readonly microphone: boolean;
  /** Id of the device; empty: the browser's default. */
  readonly microphoneId: string;
  /** The camera in a corner of the screen. */
  readonly cornerCamera: boolean;
}

/** The tracks of a recording. */
export interface Sources {
  readonly main: MediaStreamTrack | null;
  readonly corner: MediaStreamTrack | null;
  readonly microphone: MediaStreamTrack | null;
  readonly sharedSound: MediaStreamTrack | null;
  /** Whether shared sound was wanted, and the user shared something without it. */
  readonly lacksSharedSound: boolean;
  stop(): void;
}

const maxWidth = 1280;
const maxHeight = 720;

/** The user closed the browser's question, or the browser or system forbids the device. The message is for the user. */
export class NoSourceError extends Error {
  override readonly name = "NoSourceError";
}

/**
 * Asks the browser for everything in the choice. Call it first in a click's handler: browsers share a screen only then.
 * @throws NoSourceError; tracks that were opened before are stopped.
 */
export async function openSources(choice: Choice): Promise<Sources> {
  const streams: MediaStream[] = [];
  const stop = (): void => {
    for (const stream of streams) for (const track of stream.getTracks()) track.stop();
  };
  try {
    const wantsScreen = choice.picture === "screen" || choice.sharedSound;
    const screen = wantsScreen ? await openScreen(choice.sharedSound) : null;
    if (screen !== null) streams.push(screen);
    const camera = choice.picture === "camera" || choice.cornerCamera ? await openCamera() : null;
    if (camera !== null) streams.push(camera);
    const microphone = choice.microphone ? await openMicrophone(choice.microphoneId) : null;
    if (microphone !== null) streams.push(microphone);
    const cameraTrack = camera?.getVideoTracks()[0] ?? null;
    const sharedSound = screen?.getAudioTracks()[0] ?? null;
    // Chromium ends the shared sound with the picture, so the picture continues unused for a recording without it.
    return {
      main:
        choice.picture === "screen"
          ? (screen?.getVideoTracks()[0] ?? null)
          : choice.picture === "camera"
            ? cameraTrack
            : null,
      corner: choice.picture === "screen" ? cameraTrack : null,
      microphone: microphone?.getAudioTracks()[0] ?? null,
      sharedSound,
      lacksSharedSound: choice.sharedSound && sharedSound === null,
      stop,
    };
  } catch (error) {
    stop();
    throw error;
  }
}

function openScreen(hasSound: boolean): Promise<MediaStream> {
  const options = {
    video: { frameRate: { max: 30 }, width: { max: maxWidth }, height: { max: maxHeight } },
    // What others say is recorded as it is; filters for voices would distort it.
    audio: hasSound ? { echoCancellation: false, noiseSuppression: false, autoGainControl: false } : false,
    systemAudio: hasSound ? "include" : "exclude",
  };
  return ask(navigator.mediaDevices.getDisplayMedia(options as DisplayMediaStreamOptions), "screen");
}

function openCamera(): Promise<MediaStream> {
  const video = { width: { ideal: maxWidth }, height: { ideal: maxHeight }, frameRate: { ideal: 30 } };
  return ask(navigator.mediaDevices.getUserMedia({ video }), "camera");
}

function openMicrophone(id: string): Promise<MediaStream> {
  const device = id === "" ? {} : { deviceId: { exact: id } };
  return ask(
    navigator.mediaDevices.getUserMedia({
      audio: { echoCancellation: true, noiseSuppression: true, ...device },
    }),
    "microphone",
  );
}

async function ask(
  stream: Promise<MediaStream>,
  what: "screen" | "camera" | "microphone",
): Promise<MediaStream> {
  try {
    return await stream;
  } catch (error) {
    const name = error instanceof DOMException ? error.name : "";
    if (name === "NotAllowedError" && what === "screen")
      throw new NoSourceError("Nothing was shared. Choose a tab, window or screen when the browser asks.");
    if (name === "NotAllowedError")
      throw new NoSourceError(
        `The browser doesn't allow the ${what}. Allow it in the site settings beside the URL, or turn it off here.`,
      );
    if (name === "NotFoundError" || name === "OverconstrainedError")
      throw new NoSourceError(`No ${what} was found. Connect one, or turn it off here.`);
    throw new NoSourceError(`The ${what} can't be used now. Another app may be using it.`);
  }
}

/** The size of the recorded picture: that of the track, at most 720p, with even sides as codecs need them. */
export function pictureSize(track: MediaStreamTrack): { width: number; height: number } {
  const { width = maxWidth, height = maxHeight } = track.getSettings();
  const scale = Math.min(1, maxWidth / width, maxHeight / height);
  const even = (value: number): number => Math.max(16, 2 * Math.round((value * scale) / 2));
  return { width: even(width), height: even(height) };
}
