import { timed } from "../timeline.ts";
import type { DemoMeeting } from "../types.ts";

export const meeting: DemoMeeting = {
  title: "Platform stand-up, the morning after the broker",
  daysAgo: 30,
  startsAt: "08:45",
  meetingType: "Stand-up",
  recorders: ["seun.oyelaran@wrackline.example"],
  participants: [
    { key: "seun", name: "Seun Oyelaran", email: "seun.oyelaran@wrackline.example" },
    { key: "rafael", name: "Rafael Teixeira Pinho", email: "rafael.pinho@wrackline.example" },
    { key: "samir", name: "Samir Haddadine", email: "samir.haddadine@wrackline.example" },
    { key: "devika", name: "Devika Raghunathan", email: "devika.raghunathan@wrackline.example" },
  ],
  team: "Platform",
  shareState: "restricted",
  tags: ["stand-up", "outage", "on-call"],
  language: "en",
  media: "video",
  slides: [
    {
      from: "The disk of the message broker filled up",
      until: "Nobody is putting names next to lines.",
      by: "rafael",
      title: "Disk of the broker",
      chart: {
        kind: "line",
        unit: "%",
        max: 100,
        labels: ["15:00", "19:00", "23:00", "03:00", "07:00"],
        values: [31, 38, 45, 52, 59, 65, 72, 78, 84, 90, 96, 100, 100, 100, 100, 31, 31],
        mark: { at: 11, text: "02:10 full" },
      },
    },
    {
      from: "They're off for that window, I checked twice.",
      until: "I do, and tomorrow as well.",
      by: "seun",
      title: "Today",
      chart: {
        kind: "list",
        items: [
          { text: "Quota on debug topics, alarm at 70 %", isDone: true },
          { text: "Samir: status page, then gaps as gaps" },
          { text: "Seun: timeline, call with Stennavoe at one" },
          { text: "Piotr: 4.7.1 with the trace off, at noon" },
          { text: "Rafael: bed" },
        ],
      },
    },
  ],
  highlights: [
    {
      from: "Because the check that watches the alerts",
      lines: 2,
      text: "Why nobody was woken up",
      tags: ["outage", "alerts"],
      by: "devika.raghunathan@wrackline.example",
    },
  ],
  segments: timed({ minutes: 7 }, [
    ["seun", "Morning. This isn't a normal stand-up, so let's not pretend. Rafael, have you slept?"],
    [
      "rafael",
      "Two hours before and one hour after. I'm fine to talk, I'm not fine to deploy. Please don't let me deploy anything today.",
    ],
    [
      "seun",
      "Agreed, you have no buttons today. Tell us where we stand right now, and then we do what happened, short version only. The long version is for the retro.",
    ],
    [
      "rafael",
      "Right now everything is green. Ingest is caught up since six ten, the queue is empty, and alerts go out in under eight seconds. I watched three real ones go through.",
    ],
    ["devika", "Which three? I mean, were they ones that should have come in the night?"],
    [
      "rafael",
      "No, those were fresh ones. The night ones we dropped on purpose, because an oxygen alert that's five hours old only scares people. Nomvula is calling those customers instead.",
    ],
    ["devika", "How many customers is that?"],
    [
      "rafael",
      "Eleven sites had at least one threshold crossed in the window. Nine of them are small, a battery warning, a temperature band. Two are oxygen, and one of those two is Stennavoe.",
    ],
    ["samir", "Stennavoe in Shetland, with the salmon pens?"],
    [
      "rafael",
      "Yes. Pen six. They had oxygen under five and a half at about three in the morning, and we said nothing until five twenty-two.",
    ],
    ["devika", "Did they lose fish?"],
    [
      "rafael",
      "Some. Their night man found it with a handheld meter and turned the aerators on. Nomvula has a call with them at one, she'll know the number then.",
    ],
    [
      "seun",
      "I'm joining that call. Devika, I'd rather you didn't, unless you want to. I think it should be the person who runs the thing, not the person who runs the person.",
    ],
    ["devika", "That's right. Call me after. And if they ask for me, I'm there in two minutes."],
    ["seun", "Okay. Short version of the cause, Rafael, as far as we know it and not one metre further."],
    [
      "rafael",
      "The disk of the message broker filled up at ten past two. When it's full it refuses everything. So the buoys could connect but nothing they said was kept.",
    ],
    [
      "rafael",
      "What filled it is a debug topic. Firmware 4.7 publishes a radio trace every ten seconds and marks it retained, and there were four hundred buoys on 4.7 since yesterday afternoon.",
    ],
    ["samir", "So the debug switch was left on in the release build?"],
    [
      "rafael",
      "That's how it looks. I deleted the topic, the disk went from a hundred percent to thirty-one, and the broker came back by itself. Total, three hours and twelve minutes.",
    ],
    [
      "seun",
      "I approved that rollout, so put my name next to Piotr's on that line. I looked at message rate. I didn't look at message size.",
    ],
    ["devika", "Nobody is putting names next to lines. What I don't understand is why we weren't woken up."],
    [
      "rafael",
      "Because the check that watches the alerts sends its result through the broker. When the broker is down, the check can't say so. It looked exactly like a quiet night.",
    ],
    ["samir", "Oh no. The canary was in the same mine."],
    [
      "rafael",
      "The canary was in the same mine, yes. I was woken by a phone call from Nomvula at five to five, and she was woken by the night man in Shetland, who had our support number on a sticker.",
    ],
    [
      "devika",
      "I want to frame that sticker. All right, what is the danger today? Can it happen again tonight?",
    ],
    [
      "seun",
      "Not in that form. At seven I put a quota on every topic that starts with debug, two gigabytes in total, and the oldest go first. And I have an alarm on the disk at seventy percent, which goes by text message and not through us.",
    ],
    ["devika", "Tested how?"],
    [
      "seun",
      "I filled a copy of the broker with rubbish and my phone rang at seventy-one percent. It's ugly, it's a shell script on a five-euro machine at another provider, but it's not in the mine.",
    ],
    ["samir", "Does Piotr know about the switch? If those buoys reboot, do they start the trace again?"],
    [
      "rafael",
      "They never stopped. They're still sending it, the quota just throws it away. Piotr is building 4.7.1 with the trace off, he said noon.",
    ],
    ["seun", "And then to whom? Please not to four hundred at once again."],
    [
      "rafael",
      "Five first, the ones in our own harbour. Then we look. Then twenty. Those were my words and he didn't argue.",
    ],
    ["devika", "Good. That pace until the retro says otherwise. When is the retro?"],
    [
      "seun",
      "Four days from now, an hour with the big whiteboard. I want Nomvula and Piotr in it as well, not only us. I'll write the timeline in the document today, while the logs are warm.",
    ],
    [
      "rafael",
      "I've exported the broker logs and the graph of the disk. They're in the incident folder. Also a photo of my kitchen at five in the morning, that one isn't evidence.",
    ],
    ["seun", "Samir, what does the customer see? Was the status page honest?"],
    [
      "samir",
      "No, and that's the bit I'm ashamed of. It was green all night, because it asks the same check. At five thirty I turned it to red by hand, with a sentence about delayed alerts.",
    ],
    ["devika", "Delayed? They didn't come at all."],
    [
      "samir",
      "I know. I wrote it half asleep. I'll change it to 'not sent' now, with the exact times. Better that it reads badly than that it reads like us.",
    ],
    ["seun", "Thank you. And in the dashboard itself, can people see that there's a hole in the data?"],
    [
      "samir",
      "They see a straight line between the two ends, which is worse than a hole, because it looks like calm water. I'd like to draw gaps as gaps. It's a day of work, I'd start now if nobody minds about the colour picker.",
    ],
    ["devika", "Nobody has ever minded about the colour picker. Do the gaps."],
    [
      "rafael",
      "The buoys keep six hours on their own flash. Most of the missing readings will come in by themselves on the next sync. So the hole will shrink, but the alerts for it must stay off.",
    ],
    [
      "seun",
      "They're off for that window, I checked twice. Right. Today: Samir fixes the status page and then the gaps. I write the timeline and take the call at one. Rafael goes to bed.",
    ],
    ["rafael", "I go for a walk and then to bed. Who has the pager tonight?"],
    [
      "seun",
      "I do, and tomorrow as well. We swap the week after. Don't thank me, I'd only lie there listening for it anyway.",
    ],
    [
      "devika",
      "One thing from me before you go. Rafael, you found a full disk in seventeen minutes from asleep. I've seen people take longer with coffee. It'll be a hard week, but that part was good work.",
    ],
    ["rafael", "It was twenty-seven from the phone call. But okay. Thanks."],
    ["samir", "Go to bed, man."],
    ["seun", "Stand-up over. We stood for a long time."],
  ]),
};
