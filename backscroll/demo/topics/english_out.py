"""English: running, work, weekends, pictures."""

from backscroll.demo.topics.topic import ENGLISH_NAMES, Topic

RUNNING = Topic(
    "en",
    (
        "Ran {n} kilometres along the {where} this {part}, and my {body} felt {state}.",
        "{who} wants to join the {race} with me, but only if we train on {day}.",
        "I slept badly before the {session}, so I cut it after {n} minutes.",
        "Do you think the {session} on {day} is too much after {n} laps of the {where} loop?",
        "My watch says my pace on the {where} dropped by {n} seconds, which I do not believe.",
        "New shoes arrived; the left one rubs at the {body} after {n} minutes.",
        "It rained through the whole {session}, and {who} still wore sunglasses.",
        "The {race} moved its start to {time}, which suits {who} better than me.",
    ),
    (
        "The {session} after {n} kilometres on the {where} is fine as long as the {body} feels {state}.",
        "I would keep {day} easy and save the effort for the {race}.",
        "Watches drift on the {where} because of the trees, so compare {n} runs before worrying about one.",
        "If the {body} still feels {state} by {day}, swap the {session} for {n} minutes of walking.",
        "For the {race}, starting {n} seconds slower per kilometre than you feel like usually pays off.",
        "{who} may enjoy the {session} more when you agree beforehand on who sets the pace.",
        "Try lacing the shoe one eyelet lower, since pressure on the {body} often comes from the tongue.",
        "A short night before the {session} costs little: ask {who}, who did it {n} times.",
        "Eat something plain about {n} minutes before the {race}, and nothing new.",
        "The {where} is forgiving on the {body}, so long {part} runs belong there.",
    ),
    {
        "where": "canal|river path|old railway|forest track|lake shore|ridge road|harbour",
        "part": "morning|evening|lunch break|afternoon",
        "body": "left calf|right knee|lower back|ankle|hip|heel",
        "state": "stiff|surprisingly fresh|heavy|a bit sore|fine|tight at first",
        "race": "harbour ten|night relay|autumn half|hill race|charity five|club championship",
        "session": "tempo run|interval session|long run|hill session|recovery jog|fartlek",
        "who": ENGLISH_NAMES,
    },
    ("who", "race"),
)

RELEASE = Topic(
    "en",
    (
        "The {team} team wants to move the {feature} review to {day} at {time}.",
        "{who} found {n} failing checks in the {feature} branch, most of them about {topic}.",
        "Should I merge the {feature} change before the {team} team is back on {day}?",
        "Stand-up was long again; {who} explained {topic} twice and nobody wrote it down.",
        "Our build takes {n} minutes now, and the {team} people blame {topic}.",
        "I promised {who} a short note on {topic} by {date}.",
        "Somebody renamed {n} of the {feature} screens, so the screenshots for {topic} are wrong.",
        "The {team} team asked for {n} more test accounts for {feature}.",
    ),
    (
        "I would review {feature} in two parts, first the {topic} and then what the {team} team added.",
        "If {n} checks fail for one reason, fix {topic} first and run the rest again before reading on.",
        "Moving it to {day} costs little as long as {who} writes down what was decided about {topic}.",
        "A build of {n} minutes is usually one slow step; ask the {team} team for the timing of each.",
        "For the note on {topic}, three lines are enough: what changes, who is affected, and from when.",
        "Merge behind a switch, so that {feature} can wait for the {team} team without blocking anyone.",
        "{who} probably knows which of the {n} accounts are still in use.",
        "When screens get renamed, keep the old names in the {topic} page for one more release.",
        "I would not plan {feature} and {topic} into the same week; each of them eats a whole {day}.",
        "Put the open points about {feature} at the top of the agenda and stop at {time}, whatever is left.",
    ),
    {
        "team": "billing|search|mobile|platform|reporting|onboarding|payments",
        "feature": "bulk export|saved filters|dark theme|two-step sign-in|"
        "offline mode|activity feed|audit view|template gallery",
        "topic": "flaky timeouts|translation strings|rate limits|feature switches|"
        "error budgets|keyboard shortcuts|the retry policy|access rights",
        "who": ENGLISH_NAMES,
    },
    ("feature", "who"),
)

WEEKEND = Topic(
    "en",
    (
        "We might go to {spot} on {day} if the {weather} holds, and {who} would bring the {gear}.",
        "The {vehicle} to {spot} leaves at {time}, which is early for {who}.",
        "I lost the {gear} somewhere on the way to {spot}.",
        "How many hours should we plan for {spot} with {n} people?",
        "{who} has been to {spot} and remembers {n} steps up to the viewpoint.",
        "The forecast says {weather} from {time} onwards.",
        "Should we take the {vehicle} or walk the last {n} minutes to {spot}?",
    ),
    (
        "With {weather} about, I would reach {spot} before {time} and keep the afternoon open.",
        "The {vehicle} is slower than walking for the last stretch to {spot}, and the view is worse.",
        "Ask {who} about the {gear}; {spot} often lends it out for little money.",
        "For {n} people, two small rucksacks are enough, and only {who} needs the {gear}.",
        "If {weather} comes in, there is usually a place to sit inside near {spot}.",
        "I would count on {n} minutes more than the map says, since {who} likes to stop for pictures.",
        "A later {vehicle} on {day} is emptier, and you still get to {spot} in daylight.",
        "Check the opening hours for {spot} on {day}; outside the season they close at {time}.",
        "A lost {gear} tends to turn up at the {vehicle} office after {n} days.",
    ),
    {
        "spot": "the lighthouse|the gorge|the castle ruin|the bird reserve|"
        "the open-air museum|the tidal island|the old quarry|the vineyard trail|the planetarium",
        "weather": "light rain|strong wind|patchy fog|a bit of sun|late snow|thunder",
        "gear": "picnic blanket|field glass|thermos|trail map|rain cover|camera bag",
        "vehicle": "bus|ferry|regional train|cable car|tram",
        "who": ENGLISH_NAMES,
    },
    ("spot", "who"),
)

PHOTOS = Topic(
    "en",
    (
        "I took {n} pictures of {motif} with the {lens}, and {few} of them are sharp.",
        "{who} wants to print {motif} as a poster; is the {lens} good enough for that?",
        "The light on {motif} was best at {time}, just when the battery died.",
        "Is the {lens} worth {n} euros second-hand?",
        "{who} sorted the pictures from {date} and kept only {motif}.",
        "My pictures of {motif} look {look} on paper, but fine on the screen.",
    ),
    (
        "For {motif} I would close the {lens} by two stops and take {n} frames from one spot.",
        "If they look {look} on paper, lift the shadows a little before sending {motif} to print.",
        "At {time} the light is flatter, which suits {motif} better than a clear noon.",
        "A poster of {motif} is looked at from two metres, so the {lens} will do, whatever {who} says.",
        "Keep {few} pictures of every {n}; the rest only makes the good ones harder to find.",
        "Second-hand, check the {lens} for dust against a lamp, and offer {n} euros less.",
        "Name the folder after {date} and {motif}, then {who} can find it without asking.",
        "A spare battery weighs less than the regret about {motif} at {time}.",
    ),
    {
        "motif": "the herons|the market stalls|the old cranes|frost on the windows|the choir|the night train",
        "lens": "wide lens|short telephoto|kit zoom|macro lens|old fifty",
        "few": "three|four|five|six|seven|eight",
        "look": "too dark|greenish|grey|soft|grainy",
        "who": ENGLISH_NAMES,
    },
    ("motif", "who"),
)

OUT = (RUNNING, RELEASE, WEEKEND, PHOTOS)
