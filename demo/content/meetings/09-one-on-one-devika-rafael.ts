import { timed } from "../timeline.ts";
import type { DemoMeeting } from "../types.ts";

export const meeting: DemoMeeting = {
  title: "Devika and Rafael: one-on-one",
  daysAgo: 17,
  startsAt: "10:30",
  meetingType: "One-on-One",
  recorders: ["devika.raghunathan@wrackline.example"],
  participants: [
    { key: "devika", name: "Devika Raghunathan", email: "devika.raghunathan@wrackline.example" },
    { key: "rafael", name: "Rafael Teixeira Pinho", email: "rafael.pinho@wrackline.example" },
  ],
  shareState: "restricted",
  tags: ["one-on-one", "on-call"],
  language: "en",
  media: "audio",
  segments: timed({ minutes: 8.4 }, [
    ["devika", "Hello. You look better than two weeks ago, which isn't difficult."],
    [
      "rafael",
      "I slept nine hours. I also have a plant now, somebody told me that people with plants sleep better. It's a basil, so it has about ten days.",
    ],
    [
      "devika",
      "You asked for the recorder to be on. Any reason? It's fine with me, it's only for the two of us.",
    ],
    [
      "rafael",
      "Last time we agreed on three things and I remembered one. I want to read it later, instead of writing while you talk.",
    ],
    ["devika", "Good idea. Your agenda first, then mine. What's on it?"],
    [
      "rafael",
      "The on-call, then the heartbeat, then a thing that I'm a bit afraid to say. I'll begin with the on-call, so I can warm up.",
    ],
    ["devika", "Warm up, then."],
    [
      "rafael",
      "We're two people, Seun and I, week about. On paper that's okay, because it rings perhaps three times a month. But since the outage I don't sleep in my weeks. I lie there and listen for a phone that isn't ringing. Seun does the same, he made a joke about it, but it wasn't a joke.",
    ],
    ["devika", "He told me, too. In nearly the same words. How would you fix it, if you were me?"],
    [
      "rafael",
      "Four people. Samir says he'd do it, if someone trains him and if it's only the platform. And then one more from outside the team. I thought about Piotr, but he'd be on call and at the tank at the same time.",
    ],
    ["devika", "Not Piotr, not before launch. What about me?"],
    ["rafael", "You?"],
    [
      "devika",
      "I built the second version of the ingest, before you came. I can read a log. And I'd like to feel it in my own bed, what I'm deciding about. One week in four.",
    ],
    [
      "rafael",
      "I didn't expect that. But yes. It'd be a very good sign, for Samir as well. He thinks that being on call is something that happens to people lower down.",
    ],
    [
      "devika",
      "Then Samir and I do two shadow weeks, with you and Seun in front, and from the third it's four of us. Start the day after tomorrow. What does he need from you?",
    ],
    [
      "rafael",
      "The runbook. At present it's in my head and in one very long chat message. I'll write the five most likely cases, one page each. 'The disk is full' is number one, with a photograph of me.",
    ],
    [
      "devika",
      "Please no photograph. And money: Caitlín wants to raise the week from two hundred to three hundred and fifty, and the morning off after a night call isn't a favour any more, it's in the contract. From next month.",
    ],
    ["rafael", "Thank you. I wouldn't have asked."],
    ["devika", "I know that you wouldn't. That's why it's on my list and not on yours. The heartbeat?"],
    [
      "rafael",
      "The heartbeat has been live for four days. It rings at noon every day, when I don't feed it. Seven tests, counting the trials, six rings.",
    ],
    ["devika", "Six out of seven."],
    [
      "rafael",
      "Yes. On the fourth, it didn't ring, because my phone was on 'do not disturb', because I was at the dentist. So I've learned that the thing which wakes me up can be switched off by me, with one thumb.",
    ],
    ["devika", "That's a beautiful finding. What now?"],
    [
      "rafael",
      "If I don't confirm within four minutes, it goes to Seun. If he doesn't either, it goes to you. And there's a setting on the phone that lets one number through. We've all set it, I checked it in person. I looked at people's phones like a customs officer.",
    ],
    [
      "devika",
      "When will the 'we are blind' call be ready? I'm going to be asked by Inga in three days, I'm nearly sure.",
    ],
    [
      "rafael",
      "It can phone already, with a voice from a machine. But the sentence isn't right. Nomvula says that it sounds like a ransom. She wants to record it with her own voice.",
    ],
    ["devika", "She has the voice for it. When?"],
    [
      "rafael",
      "She recorded it yesterday in the stairwell. I need a week more for the list of numbers, because half the sites have a number of somebody who's left. So, ten days to be safe.",
    ],
    [
      "devika",
      "I'll say two weeks to Inga. Then you have four days for things we don't know. Good. Now the thing that you're afraid of.",
    ],
    [
      "rafael",
      "Okay. So, since the outage, everyone is very nice to me. You, Seun, Nomvula brought me a cake. And I feel that everyone's being nice because I made the mistake, and they don't want me to feel it.",
    ],
    ["devika", "Which mistake do you think you made?"],
    [
      "rafael",
      "The second page. I didn't scroll. At ten in the evening it was at seventy-eight percent. Seun said 'nobody scrolls', but I could have, and it was my week.",
    ],
    ["devika", "May I be less nice, then?"],
    ["rafael", "Please. I'd prefer it."],
    [
      "devika",
      "If you'd scrolled that evening, I would've been lucky. I don't want to be lucky, I want it to ring. The number of people who could have prevented this one is six, and I'm the first, because I signed off a check without asking what it stands on. You come sixth.",
    ],
    ["rafael", "Sixth is quite far down."],
    [
      "devika",
      "And here's something that isn't nice. You lost ten minutes on the text provider, because it was the last two times. That's a habit, I'd like to work on it. Begin with what's closest to us, then outward. If you'd looked at the broker first, it'd be three hours and two minutes.",
    ],
    [
      "rafael",
      "Yes. That one is fair. That I can do something with. It's in the runbook, actually: page zero, 'start at home'.",
    ],
    [
      "devika",
      "And the cake isn't because of the mistake. The cake is because Nomvula had to wake you with a story about dying fish, and she feels bad about it. Have you told her that it's okay?",
    ],
    ["rafael", "No. I only said thank you for the cake. I'll tell her today."],
    [
      "devika",
      "Good. My list is short. One: where do you want to be in two years? You've been here three years and I've asked you that once, and you said 'here'.",
    ],
    [
      "rafael",
      "I still say here. But I'd like to own something. Not as a boss. I'd like that a thing is mine, and if you ask who knows about it, then it's me.",
    ],
    ["devika", "Which thing?"],
    [
      "rafael",
      "The alarm. From the moment when the reading comes in, until a person has said 'yes, I'm awake'. At the moment it's in four places, and each place has a different owner, and in between is nobody. That's where it broke.",
    ],
    [
      "devika",
      "I think that's exactly the right thing, and you've drawn the border better than I would have. Write me one page, what's in and what's out, and what you'd stop doing in exchange. Then we talk to Seun, because some of it is his.",
    ],
    ["rafael", "I asked him already, a bit, at lunch. He said, 'take it, please take it'."],
    [
      "devika",
      "Then the page is a formality, but write it anyway. Two: the follow-up with Stennavoe is in three days. Seun's going, Marit's going. Would you like to come?",
    ],
    [
      "rafael",
      "I don't think so. I'd only say sorry twenty times. But could Seun show them the noon test? He can let it ring live, they'd like that.",
    ],
    [
      "devika",
      "That's a better contribution than sorry. I'll tell him. Three: holidays. You've nineteen days left and a plant that can't be left alone.",
    ],
    [
      "rafael",
      "After launch. Two weeks, my parents in Braga. I'll put it in today. The basil goes to Piotr, next to the tank.",
    ],
    [
      "devika",
      "So, for your reading later. On call: four people, shadow weeks from the day after tomorrow, runbook by you. 'We are blind' in two weeks, officially. One page about owning the alarm, by the end of next week. And you talk to Nomvula today.",
    ],
    ["rafael", "And holidays. That's five, I would've remembered two. Thank you, Devika."],
    ["devika", "Thank you for saying the afraid thing. Same time in two weeks."],
  ]),
};
