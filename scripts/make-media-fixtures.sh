#!/bin/sh
# Makes the small media files of the tests (test/fixtures/media). They were made once and are committed, so nobody
# needs this to run the tests; run it again only to add one. Needs ffmpeg with libx264, libx265, libvpx, libmp3lame,
# libopus and libtwolame.
#   scripts/make-media-fixtures.sh [FOLDER]
set -eu

command -v ffmpeg >/dev/null || { echo "ffmpeg is not installed: the media fixtures can't be made again" >&2; exit 1; }

out=${1:-$(dirname "$0")/../test/fixtures/media}
mkdir -p "$out"
cd "$out"

# Inputs: a small moving picture and a tone. -bitexact keeps dates and versions out, so a second run changes little.
picture() { echo "-f lavfi -i testsrc=size=${2:-64x64}:rate=10:duration=$1"; }
tone() { echo "-f lavfi -i sine=frequency=440:sample_rate=16000:duration=$1"; }
x264="-c:v libx264 -preset veryfast -pix_fmt yuv420p -crf 45"
h264="$x264 -g 20"
aac="-c:a aac -b:a 12k -ac 1"
mp3="-c:a libmp3lame -ac 1"
make() { ffmpeg -nostdin -v error -y -bitexact "$@"; }

# Good videos.
make $(picture 12) $(tone 12) $h264 $aac -movflags +faststart good-faststart.mp4
make $(picture 12) $(tone 12) $h264 $aac good-index-at-end.mp4
make $(picture 12) $(tone 12) $h264 $aac -movflags +frag_keyframe+empty_moov+default_base_moof good-fragmented.mp4
make $(picture 10) $(tone 10) $h264 $aac -movflags +faststart good-exactly-10s.mp4
make -i good-faststart.mp4 -c copy -f mp4 -brand M4V good-m4v-brand.mp4

# Each rule of the video form broken alone.
make $(picture 9.4) $(tone 9.4) $h264 $aac -movflags +faststart bad-short.mp4
make -i good-faststart.mp4 -c copy -an -movflags +faststart bad-no-audio.mp4
make -i good-faststart.mp4 -c:v copy -c:a libopus -b:a 8k -ar 16000 -movflags +faststart bad-audio-opus.mp4
make -i good-faststart.mp4 -c:v copy $mp3 -b:a 16k -movflags +faststart bad-audio-mp3.mp4
make $(picture 12) $(tone 12) -c:v libx265 -preset veryfast -crf 45 -g 20 -x265-params log-level=none -tag:v hvc1 $aac \
  -movflags +faststart bad-video-hevc.mp4
make $(picture 12) $(tone 12) -c:v libvpx-vp9 -b:v 8k -g 20 -cpu-used 8 $aac -movflags +faststart bad-video-vp9.mp4
make $(picture 12) $(tone 12) -c:v mpeg4 -q:v 31 -g 20 $aac -movflags +faststart bad-video-mpeg4.mp4
make -f lavfi -i color=c=navy:size=1280x738:rate=5:duration=12 $(tone 12) $h264 $aac -movflags +faststart bad-height-738.mp4
make -f lavfi -i color=c=navy:size=720x1280:rate=5:duration=12 $(tone 12) $h264 $aac -movflags +faststart bad-portrait.mp4
make $(picture 12) $(picture 12) $(tone 12) -map 0:v -map 1:v -map 2:a $h264 $aac -movflags +faststart bad-two-videos.mp4
make $(picture 12) $(tone 12) $x264 -g 1000 -keyint_min 1000 -sc_threshold 0 -force_key_frames 0,2,10 $aac \
  -movflags +faststart bad-keyframe-gap-8s.mp4
make -i good-faststart.mp4 -c copy bad-container.mov
make -i good-faststart.mp4 -c copy -vn -f mp4 bad-no-video.mp4

# Rotated pictures: encoded 1280x64 and shown 1280 high, which is allowed; and encoded 64x1280 and shown 64 high.
make -f lavfi -i color=c=navy:size=1280x64:rate=5:duration=12 $(tone 12) $h264 $aac .turned.mp4
make -i .turned.mp4 -c copy -metadata:s:v:0 rotate=90 -movflags +faststart good-turned.mp4
make -f lavfi -i color=c=navy:size=64x1280:rate=5:duration=12 $(tone 12) $h264 $aac .turned.mp4
make -i .turned.mp4 -c copy -metadata:s:v:0 rotate=90 -movflags +faststart bad-turned.mp4
rm .turned.mp4

# Several rules at once.
make -f lavfi -i color=c=navy:size=64x1080:rate=5:duration=8 $h264 -movflags +faststart bad-short-silent-high.mp4

# Other containers.
make $(picture 12) $(tone 12) -c:v libvpx-vp9 -b:v 8k -g 20 -cpu-used 8 -c:a libopus -b:a 8k other.webm
make -i good-faststart.mp4 -c copy other.mkv
make -i good-faststart.mp4 -c copy -t 3 -f mpegts other.m2ts
make $(picture 2) -c:v mpeg4 -q:v 31 other.avi
make $(tone 1) -ar 8000 other.wav
make $(tone 1) -ar 8000 other.flac
make $(tone 2) -c:a libopus -b:a 8k other.ogg

# mp3.
make $(tone 12) $mp3 -b:a 16k good-cbr.mp3
make $(tone 12) $mp3 -q:a 9 -write_xing 0 -id3v2_version 0 good-vbr-no-xing.mp3
make $(tone 12) -af aresample=44100 $mp3 -b:a 32k -write_id3v1 1 -metadata title=Tone good-44100.mp3
make $(tone 8) $mp3 -b:a 16k bad-short.mp3
make $(tone 12) -c:a libtwolame -b:a 32k -ac 1 -f mp2 bad-layer-2.mp3

# What the older upload operation takes besides.
make -i good-faststart.mp4 -c copy onestep-h264-aac.mov
make -i good-faststart.mp4 -c:v mpeg4 -q:v 31 -c:a pcm_s16le -ar 8000 onestep-mpeg4-pcm.mov
make $(picture 12 48x48) -r 1 -c:v prores_ks -profile:v 0 -qscale:v 30 $(echo -an) onestep-prores-silent.mov
make $(tone 12) $aac onestep-aac.m4a
make $(tone 12) -ar 8000 -c:a alac onestep-alac.m4a
make -f lavfi -i color=c=navy:size=32x32:rate=1:duration=1 -frames:v 1 .cover.png
make -i onestep-aac.m4a -i .cover.png -map 0:a -map 1:v -c copy -disposition:v:0 attached_pic onestep-cover.m4a
make -i onestep-aac.m4a -i .cover.png -map 0:a -map 1:v -c:a copy -c:v mjpeg -frames:v 1 onestep-still.mov
rm .cover.png

# Sound for a speech model that hears tones: 450 and 900 Hz in turn, 2.5 s each with 1.5 s of silence after it.
make -f lavfi -i "aevalsrc='if(lt(mod(t,4),2.5),0.4*sin(2*PI*t*if(lt(mod(t,8),4),450,900)),0)':s=44100:d=24" \
  -ac 1 -b:a 32k speech-tones.mp3
