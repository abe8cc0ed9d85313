import type { Storyboard } from "../../api/recording/recording.ts";
import type { MediaSource } from "../context.ts";
import classes from "../player.module.css";

/** The thumbnail of a position, cropped from its sheet. */
export function StoryboardTile(props: {
  storyboard: Storyboard | undefined;
  sheets: NonNullable<MediaSource["storyboard"]>["sheets"] | undefined;
  ms: number;
  maxWidth: number;
}) {
  const { storyboard, sheets, ms, maxWidth } = props;
  if (storyboard === undefined || sheets === undefined || storyboard.count === 0) return null;
  const { tile_width: width, tile_height: height, columns, rows, interval_ms, count } = storyboard;
  const perSheet = columns * rows;
  const index = Math.min(count - 1, Math.max(0, Math.floor(ms / interval_ms)));
  const name = storyboard.sheets[Math.floor(index / perSheet)];
  const url = sheets.find((sheet) => sheet.name === name)?.url;
  if (url === undefined) return null;
  const tile = index % perSheet;
  const scale = Math.min(1, maxWidth / width, 160 / height);
  return (
    <div className={classes.tile} style={{ width: width * scale, height: height * scale }}>
      <img
        src={url}
        alt=""
        style={{
          transform: `scale(${scale}) translate(${-(tile % columns) * width}px, ${-Math.floor(tile / columns) * height}px)`,
        }}
      />
    </div>
  );
}
