import { timed } from "../timeline.ts";
import type { DemoMeeting } from "../types.ts";

export const meeting: DemoMeeting = {
  title: "Stennavoe escalation: no oxygen alert for pen six",
  daysAgo: 30,
  startsAt: "13:00",
  meetingType: "Support Call",
  recorders: ["nomvula.khoza@wrackline.example"],
  participants: [
    { key: "nomvula", name: "Nomvula Khoza", email: "nomvula.khoza@wrackline.example" },
    { key: "seun", name: "Seun Oyelaran", email: "seun.oyelaran@wrackline.example" },
    { key: "inga", name: "Inga Tait-Rendall", email: "inga@stennavoe.example" },
    // The night operator dials in from the barge: only a phone number is known.
    { key: "erik", name: "Erik Halcrow", phone: "+447700900142" },
    { key: "lukas", name: "Lukas Brandtner", email: "lukas.brandtner@wrackline.example" },
  ],
  team: "Customers",
  sharedWithTeams: ["Platform"],
  sharedWithUsers: ["marit.aalvik@wrackline.example"],
  shareState: "restricted",
  tags: ["stennavoe", "escalation", "outage", "oxygen"],
  language: "en",
  media: "video",
  slides: [
    {
      from: "That's right. Five point five and the phone",
      until: "And the fish, Inga?",
      by: "seun",
      title: "Pen six: oxygen in mg/l (alarm at 5.5)",
      chart: {
        kind: "line",
        unit: "",
        max: 10,
        labels: ["00:00", "02:00", "04:00", "06:00"],
        values: [7.9, 7.6, 7.2, 6.8, 6.4, 5.9, 5.4, 5.0, 4.6, 4.4, 4.9, 6.1, 6.7],
        mark: { at: 6, text: "03:05 below 5.5" },
      },
    },
  ],
  highlights: [
    {
      from: "I've looked at the readings that came in",
      lines: 3,
      text: "95 minutes without an alarm",
      tags: ["stennavoe", "oxygen"],
      by: "nomvula.khoza@wrackline.example",
    },
    {
      from: "I know. And the part that I find hardest",
      lines: 2,
      text: "The watchman in the mirror",
      tags: ["customer-voice", "outage"],
      by: "seun.oyelaran@wrackline.example",
    },
  ],
  segments: timed({ minutes: 8.8 }, [
    [
      "nomvula",
      "Good afternoon, Inga. This is Nomvula at Wrackline, and I have Seun with me, who runs the platform. Lukas is listening. I should say that we're recording, is that all right with you?",
    ],
    [
      "inga",
      "It's more than all right. I'd have asked for it. I've Erik on the line as well, from the barge. Erik, are you there?",
    ],
    ["erik", "Aye, I'm here. You'll hear the generator. If I go quiet it's the signal and not the manners."],
    [
      "nomvula",
      "Thank you both. Before anything else, I want to say that we're sorry, and I don't want to say it in a way that asks you for something. You paid us to wake you up and we didn't.",
    ],
    ["inga", "No, you didn't. So let me tell you what our night was, and then you tell me what yours was."],
    ["nomvula", "Please."],
    [
      "inga",
      "We have twelve pens, about forty thousand fish in each. The tide was slack, no wind at all, and there was a bloom in the voe already that week. It's exactly the night you want the alarm for. Erik, you tell it.",
    ],
    [
      "erik",
      "Well, I do my round at half past four. At pen six the fish were up at the surface, gulping like. So I put the handheld in, and it said four point eight milligrams.",
    ],
    [
      "seun",
      "Can I ask what your threshold is set to? I have six as the warning and five point five as the alarm.",
    ],
    [
      "erik",
      "That's right. Five point five and the phone should be ringing. It was lying on the table with four bars and nothing on it.",
    ],
    [
      "inga",
      "I've looked at the readings that came in since. The buoy had five point four at five past three. So that's an hour and thirty-five minutes in which we could have done something.",
    ],
    [
      "seun",
      "Yes. I have the same two numbers. The buoy measured it correctly and sent it correctly. It's on our side that it went nowhere.",
    ],
    ["erik", "I got the aerators on at twenty to five. It took until six to be back over six and a half."],
    ["nomvula", "And the fish, Inga? I'd rather know the number than guess it."],
    [
      "inga",
      "Two hundred and twelve dead so far in pen six. There'll be more over the next days, there always are, with the gills. It's not a disaster. But I've stood on that barge when it was thirty thousand, and the difference was one man doing his round early.",
    ],
    ["erik", "I wasn't early. I was on time."],
    ["inga", "You were on time, Erik, which is more than the alarm was."],
    [
      "nomvula",
      "Erik, you also called our support number, and that call is how we found out ourselves. I want to be open about that. You woke me, and I woke the engineer on duty.",
    ],
    [
      "erik",
      "It was on the sticker on the lid. I thought, somebody'll be cross at me for phoning at ten to five.",
    ],
    ["nomvula", "Nobody was cross. Seun, will you say what happened?"],
    [
      "seun",
      "I will. I'll give you what we know this morning, and some of it may get corrected in the written report. All readings and alerts go through one message server. At ten past two, UTC, its disk was full, and it stopped accepting anything.",
    ],
    [
      "seun",
      "It was full because of us. We'd put new firmware on four hundred buoys the day before, and it was sending test data that it shouldn't have been. It wasn't an attack and it wasn't the network.",
    ],
    ["inga", "Were ours among the four hundred?"],
    [
      "seun",
      "No. Yours have the older version. You were hit by other people's buoys, if you like, because all share that server.",
    ],
    ["inga", "That's nearly worse, you know. I could've understood it if it was my own buoys."],
    [
      "seun",
      "I know. And the part that I find hardest: we have a check that sends a test alert every minute and shouts when it doesn't arrive. The shout goes through the same server. So it couldn't shout.",
    ],
    ["inga", "So who watches the watchman, and it turns out it's himself in a mirror."],
    [
      "seun",
      "That's a fair way to say it. As of seven this morning there's a separate one, at another company, which sends a text message to two of us. It's simple, but it doesn't depend on anything that it's watching.",
    ],
    [
      "inga",
      "And what does that do for me tonight? Because it's the same weather tonight. Slack water at three and no wind.",
    ],
    [
      "seun",
      "Tonight I'm on duty myself, and I have your twelve pens open on a screen of their own. If any of them goes under six, I phone Erik by hand. Not a robot. I'll do that until you tell me to stop.",
    ],
    ["erik", "You'll be bored. It's mostly seals."],
    ["seun", "I hope to be very bored."],
    ["speaker-5", "Erik, that's pen six at seven point one now, and pen seven at seven point three."],
    ["nomvula", "Sorry, who was that?"],
    [
      "erik",
      "One of the day shift, just come in with the handheld. Seven point one in six, did you get that?",
    ],
    [
      "seun",
      "I have seven point zero on the buoy in six. So they agree within a tenth, which is good to hear from somebody standing there.",
    ],
    ["speaker-5", "Tell them the camera's fogged again an' all."],
    ["erik", "The camera isn't theirs. Away and have your tea."],
    [
      "inga",
      "Right. Here's what I want, and I've written it down so that I don't get nice. One, a written report, with times, that I can show our insurer and the retailer. Within five working days.",
    ],
    [
      "nomvula",
      "You'll have it in five working days, and I'll send you a draft in three so that you can tell us what the insurer needs.",
    ],
    [
      "inga",
      "Two. I don't want one road for the alarm. If the clever way fails, I want a stupid way. I don't care if it's a text message or a bell.",
    ],
    [
      "seun",
      "We've been thinking of the same since five o'clock. The new buoy, Heron 2, has a modem that can send a text by itself, without us. I'd like to bring you a proper answer in two weeks and not invent one now.",
    ],
    ["inga", "The new buoy that was meant to leave your works two days ago, and hasn't."],
    ["nomvula", "That one, yes. Lukas told you about the delay on the phone, I believe."],
    [
      "inga",
      "He did. Very politely. So I'm getting an alarm that doesn't ring and a buoy that isn't here. You can see how that looks from the voe.",
    ],
    [
      "nomvula",
      "I can. The one thing I'd say is that it's the same reason in both cases that I can tell you the truth about them. The buoy is late because we found water in it before you did.",
    ],
    [
      "inga",
      "Hm. Aye. I'd sooner that way round. Three: money. We pay for twelve buoys and the service, and the service wasn't there on the one night. I want six months back.",
    ],
    [
      "nomvula",
      "I hear six months. The contract gives you a tenth of a month for an outage of that length, and I'm not going to insult you with that. But I can't say yes to six today, it goes to Marit, our chief executive.",
    ],
    ["inga", "Then Marit can come on the next call and say no to me herself."],
    ["nomvula", "I'll put that to her in those words. I think she'll come."],
    [
      "inga",
      "And four. I want to test it. Not you, me. I want a button that makes the alarm ring on Erik's phone, and I want to press it every week, whenever I please.",
    ],
    ["erik", "Not at four in the morning."],
    ["inga", "Precisely at four in the morning, Erik."],
    [
      "seun",
      "That's a very good request. There's a test function, but it's in our back office, one of us has to press it. I see no reason why it shouldn't be on your page. I'll talk to Samir, who makes the dashboard.",
    ],
    [
      "nomvula",
      "Let me repeat all of it. A written report in five working days, a draft in three. A second road for the alarm, with a plan in two weeks. The credit goes to Marit. And a test button that you can press yourselves.",
    ],
    ["inga", "And Seun on the phone tonight."],
    [
      "nomvula",
      "And Seun tonight, and every night until you say stop. May I call you tomorrow at nine to hear how the night was?",
    ],
    [
      "inga",
      "Do that. Look, I'm not after anybody's head. I've run a barge for nineteen years, things fill up and things stop. But I have to know before the fish do.",
    ],
    ["seun", "That sentence goes on our whiteboard."],
    ["erik", "Is there any chance of more of those stickers? I'd put one on every lid."],
    ["nomvula", "I'll post you fifty today. Thank you, Erik. And thank you, Inga."],
    ["inga", "We'll speak tomorrow. Bye now."],
  ]),
};
