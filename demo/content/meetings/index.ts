import type { DemoMeeting } from "../types.ts";
import { meeting as goOrNoGo } from "./01-heron-2-go-or-no-go.ts";
import { meeting as coquesEtDelais } from "./02-coques-et-delais.ts";
import { meeting as platformStandUp } from "./03-platform-stand-up-after-the-outage.ts";
import { meeting as stennavoeEscalation } from "./04-stennavoe-escalation.ts";
import { meeting as outageRetrospective } from "./05-retrospective-three-hours-without-alerts.ts";
import { meeting as firmwareInterview } from "./06-interview-firmware-engineer.ts";
import { meeting as hiringDebrief } from "./07-firmware-hiring-debrief.ts";
import { meeting as elmsrode } from "./08-elmsrode-bojengroesse.ts";
import { meeting as oneOnOne } from "./09-one-on-one-devika-rafael.ts";
import { meeting as stennavoeFollowUp } from "./10-stennavoe-follow-up.ts";
import { meeting as shiokazeDemo } from "./11-tideline-demo-shiokaze.ts";
import { meeting as allHands } from "./12-all-hands.ts";
import { meeting as estuaryWatch } from "./13-orrin-estuary-watch-open-data.ts";
import { meeting as launchStandUp } from "./14-launch-week-stand-up.ts";

/** The sample meetings, oldest first. */
export const demoMeetings: readonly DemoMeeting[] = [
  goOrNoGo,
  coquesEtDelais,
  platformStandUp,
  stennavoeEscalation,
  outageRetrospective,
  firmwareInterview,
  hiringDebrief,
  elmsrode,
  oneOnOne,
  stennavoeFollowUp,
  shiokazeDemo,
  allHands,
  estuaryWatch,
  launchStandUp,
];
